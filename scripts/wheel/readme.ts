// README.md as a page of the package index shows it: there is no repository around it, so links and pictures name theirs.
const REPOSITORY = 'https://github.com/lossproof/lossproof';

export function absoluteLinks(markdown: string): string {
  return markdown.replaceAll(
    /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)\s]+)\)/g,
    (_, picture: string, text: string, to: string) => {
      const kind = picture === '' ? 'blob' : 'raw';
      return `${picture}[${text}](${REPOSITORY}/${kind}/main/${to})`;
    },
  );
}
