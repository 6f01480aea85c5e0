"""`python -m lossproof` is the command `lossproof`, of this Python and no other."""

import sys

from lossproof_door.main import main

sys.exit(main())
