import path from "node:path/posix";

/** An entry of VitePress's sidebar. */
export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly SidebarItem[];
}

/**
 * Reads the sidebar from the list of documents: each heading of the second or third level is a group, and each list item
 * with a link is an entry.
 * @param list the text of `docs/README.md`
 * @param pageOf finds the page of a document, from the site's top folder
 * @param titleOf finds a page's title
 */
export function sidebarOf(
  list: string,
  pageOf: (document: string) => string,
  titleOf: (document: string) => string,
): SidebarItem[] {
  const groups = list.split(/^##+ /m).slice(1);
  return groups.map((group, index) => {
    const [heading = ""] = group.split("\n");
    const links = [...group.matchAll(/^- \[[^\]]*\]\(([^)#]+)\)/gm)].map(([, link = ""]) =>
      path.join("docs", link),
    );
    return {
      text: heading,
      collapsed: index > 0,
      items: links.map((document) => ({ text: titleOf(document), link: `/${pageOf(document)}` })),
    };
  });
}
