"""What a run of a twin says of itself."""


class Told:
    """Says something once: that the change was made, without which nothing is compared, or that there is dropout."""

    def __init__(self, session, name, asked=None, what="twin"):
        self.session = session
        self.name = name
        self.asked = asked or {}
        self.what = what
        self.said = False

    def applied(self, **values):
        if not self.said:
            self.said = True
            self.session.write(
                "event", what=self.what, step=self.session.step, model=None, place=None, names=[self.name], values=values
            )
