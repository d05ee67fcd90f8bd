import path from "node:path/posix";

/** Where the pages of a site are. */
export interface PageMap {
  /** The page of each document, both from their top folders: `docs/sdk.md` is `sdk.md`. */
  readonly pages: ReadonlyMap<string, string>;
  /** Whether the repository has a file or folder at a path. */
  readonly isInRepository: (file: string) => boolean;
  /** The URL of the repository's files, such as `https://example.com/tree/v1.0.0`; undefined for no links to them. */
  readonly sourceUrl: string | undefined;
}

const FENCE = /^(```|~~~)[\s\S]*?^\1.*$/gm;
const LINK = /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\((?!https?:|mailto:)([^)\s]+)\)/g;

/**
 * Returns a document's text with links that fit its page. A link to another page leads there, and a link to another
 * file of the repository leads to the repository, or becomes plain text without a `sourceUrl`.
 * @param from the document's path in the repository
 * @throws Error for a link to nothing
 */
export function withPageLinks(text: string, from: string, map: PageMap): string {
  let result = "";
  let end = 0;
  for (const fence of text.matchAll(FENCE)) {
    result += relink(text.slice(end, fence.index), from, map) + fence[0];
    end = fence.index + fence[0].length;
  }
  return result + relink(text.slice(end), from, map);
}

function relink(text: string, from: string, map: PageMap): string {
  return text.replace(LINK, (whole, mark: string, shown: string, link: string) => {
    const [target = "", heading] = link.split("#");
    if (target === "") return whole;
    const file = path.join(path.dirname(from), target).replace(/\/$/, "");
    const page = map.pages.get(file) ?? map.pages.get(`${file}/README.md`);
    if (page !== undefined) {
      const here = path.dirname(map.pages.get(from) ?? from);
      const there = path.relative(here, page);
      const relative = there.startsWith(".") ? there : `./${there}`;
      return `${mark}[${shown}](${relative}${heading === undefined ? "" : `#${heading}`})`;
    }
    if (!map.isInRepository(file)) throw new Error(`${from} links to ${link}, which does not exist`);
    return map.sourceUrl === undefined ? shown : `${mark}[${shown}](${map.sourceUrl}/${file})`;
  });
}
