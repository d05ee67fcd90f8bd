import { readFileSync } from "node:fs";
import type MarkdownIt from "markdown-it";
import { defineConfig } from "vitepress";

const pages = new URL("../pages/", import.meta.url);

const [, base = "/"] = /--base[= ](\S+)/.exec(process.argv.join(" ")) ?? [];

export default defineConfig({
  title: "Threshold signing",
  description: "A hosted backend for MPC signing keys: Ika dWallets on Sui",
  srcDir: "pages",
  outDir: "dist",
  cleanUrls: true,
  head: [["link", { rel: "icon", href: `${base}favicon.svg`, type: "image/svg+xml" }]],
  lastUpdated: false,
  // A page names addresses of a service that runs on the reader's machine.
  ignoreDeadLinks: [/^https?:\/\/(?:127\.0\.0\.1|localhost)/],
  markdown: {
    html: false,
    languageAlias: { ndjson: "json" },
    anchor: { slugify },
    config: useMarkdown,
  },
  // Mermaid, which only pages with diagrams load, and the index, which only a search loads.
  vite: { build: { chunkSizeWarningLimit: 1_500 } },
  themeConfig: {
    sidebar: JSON.parse(readFileSync(new URL("sidebar.json", pages), "utf8")),
    nav: [
      { text: "Documents", link: "/documents" },
      { text: "SDK", link: "/sdk" },
      {
        text: "Reference",
        items: [
          { text: "REST", link: "/reference/rest" },
          { text: "gRPC", link: "/reference/grpc" },
          { text: "SDK", link: "/reference/sdk/" },
          { text: "Errors", link: "/errors" },
        ],
      },
    ],
    outline: { level: [2, 3] },
    search: { provider: "local" },
    docFooter: { prev: false, next: false },
  },
});

/** Names headings in links as GitHub does. */
function slugify(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** Renders diagrams by a component, and text with braces as it is. */
function useMarkdown(md: MarkdownIt): void {
  const { fence, text } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const token = tokens[index];
    return token?.info.trim() === "mermaid"
      ? `<mermaid-diagram code="${encodeURIComponent(token.content)}" />`
      : (fence?.(tokens, index, ...rest) ?? "");
  };
  // Vue would evaluate what is between double braces.
  md.renderer.rules.text = (tokens, index, ...rest) =>
    (text?.(tokens, index, ...rest) ?? "").replaceAll("{{", "<span v-pre>{{</span>");
  // The only HTML of generated tables: line breaks, and places that links lead to.
  md.inline.ruler.before("html_inline", "generated_html", (state, silent) => {
    const [tag] = /^(?:<br ?\/?>|<a id="[\w-]+"><\/a>)/.exec(state.src.slice(state.pos)) ?? [];
    if (tag === undefined) return false;
    if (!silent) state.push("html_inline", "", 0).content = tag;
    state.pos += tag.length;
    return true;
  });
}
