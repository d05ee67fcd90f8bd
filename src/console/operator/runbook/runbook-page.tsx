// The build knows where the document is.
import runbook from "virtual:runbook.md?raw";
import type { JSX } from "preact";
import { Empty } from "../../design/empty.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type Block, readMarkdown, type Span } from "../../format/markdown.ts";
import type { PageProps } from "../../route.ts";

/** The runbook: what each alert means, what to check, and what to do. Its first page lists the entries. */
export function RunbookPage({ id }: PageProps): JSX.Element {
  const { intro, entries } = BOOK;
  if (id === "") {
    return (
      <PageFrame title="Runbook" lead="What each alert means, what to check, and what to do.">
        <section class="panel" aria-label="How to begin">
          <Blocks of={intro} />
        </section>
        <Panel title="Entries">
          <ul class="entries">
            {entries.map(({ title }) => (
              <li key={title}>
                <a href={`#/runbook/${title}`}>{title}</a>
              </li>
            ))}
          </ul>
        </Panel>
      </PageFrame>
    );
  }
  const entry = entries.find(({ title }) => title === id);
  return (
    <PageFrame title={entry?.title ?? "No such entry"} up={{ href: "#/runbook", title: "Runbook" }}>
      {entry === undefined ? (
        <Empty title="The runbook has no entry with this name">
          <code class="wrap">{id}</code>
        </Empty>
      ) : (
        <section class="panel" aria-label={entry.title}>
          <Blocks of={entry.blocks} />
        </section>
      )}
    </PageFrame>
  );
}

/** What stands before the first entry, and the entries. */
const BOOK = ((): { intro: readonly Block[]; entries: readonly Entry[] } => {
  const blocks = readMarkdown(runbook).filter((block) => block.kind !== "heading" || block.level > 1);
  const starts = blocks.flatMap((block, at) => (block.kind === "heading" && block.level === 2 ? [at] : []));
  const entries = starts.map((at, index): Entry => {
    const heading = blocks[at];
    const title = heading?.kind === "heading" ? heading.text : "";
    return { title, blocks: blocks.slice(at + 1, starts[index + 1]) };
  });
  return { intro: blocks.slice(0, starts[0]), entries };
})();

interface Entry {
  readonly title: string;
  readonly blocks: readonly Block[];
}

function Blocks({ of: blocks }: { readonly of: readonly Block[] }): JSX.Element {
  return (
    <div class="prose">
      {blocks.map((block, at) => (
        <OneBlock key={`${at}`} of={block} />
      ))}
    </div>
  );
}

function OneBlock({ of: block }: { readonly of: Block }): JSX.Element {
  switch (block.kind) {
    case "heading":
      return <h2>{block.text}</h2>;
    case "code":
      return (
        <div class="code-block">
          <pre>
            <code>{block.text}</code>
          </pre>
        </div>
      );
    case "list":
      return (
        <ul>
          {block.items.map((item, at) => (
            <li key={`${at}`}>
              <Line of={item} />
            </li>
          ))}
        </ul>
      );
    case "table":
      return (
        <div class="table-scroll">
          <table class="table">
            <thead>
              <tr>
                {block.titles.map((title, at) => (
                  <th key={`${at}`} scope="col">
                    <Line of={title} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={`${index}`}>
                  {row.map((cell, at) => (
                    <td key={`${at}`}>
                      <Line of={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "paragraph":
      return (
        <p>
          <Line of={block.spans} />
        </p>
      );
  }
}

function Line({ of: spans }: { readonly of: readonly Span[] }): JSX.Element {
  return (
    <>
      {spans.map((span, at) => (
        <OneSpan key={`${at}`} of={span} />
      ))}
    </>
  );
}

/** The console serves the runbook alone. For another document it shows where that is in the repository. */
function OneSpan({ of: span }: { readonly of: Span }): JSX.Element {
  if (span.kind === "code") return <code>{span.text}</code>;
  if (span.kind === "bold") return <strong>{span.text}</strong>;
  if (span.kind !== "link") return <>{span.text}</>;
  const entry = BOOK.entries.find(({ title }) => `#${title.toLowerCase()}` === span.target);
  if (entry !== undefined) return <a href={`#/runbook/${entry.title}`}>{span.text}</a>;
  return (
    <>
      {span.text} (<code>{documentOf(span.target)}</code>)
    </>
  );
}

/** Returns the place in the repository of a link's target, which is relative to `docs`. */
function documentOf(target: string): string {
  return target.startsWith("../") ? target.slice(3) : `docs/${target}`;
}
