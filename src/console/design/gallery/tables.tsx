import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Pages } from "../../api/use-pages.ts";
import { formatCount } from "../../format/text.ts";
import { Empty } from "../empty.tsx";
import { Panel } from "../panel.tsx";
import { type DataColumn, DataTable } from "../table/data-table.tsx";
import { ListTable } from "../table/list-table.tsx";
import { Badge } from "../value/badge.tsx";
import { Cut } from "../value/cut.tsx";
import { Id } from "../value/id.tsx";

/** A table, and a list with its tools and pages. */
export function Tables(): JSX.Element {
  const [sort, setSort] = useState({ title: "Signatures", isDescending: true });
  return (
    <>
      <Panel title="Table">
        <DataTable
          caption="Projects"
          columns={COLUMNS}
          rows={ROWS}
          rowKey={({ id }) => id}
          empty={null}
          sort={{ ...sort, set: (title, isDescending) => setSort({ title, isDescending }) }}
        />
      </Panel>
      <Panel title="List">
        <ListTable
          caption="Listed projects"
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={<Empty title="No projects yet">A project has keys, users and a balance.</Empty>}
          pages={pagesOf(ROWS)}
        />
      </Panel>
      <Panel title="Empty list">
        <ListTable
          caption="No projects"
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={<Empty title="No projects yet">A project has keys, users and a balance.</Empty>}
          pages={{ ...pagesOf([]), toNext: undefined }}
        />
      </Panel>
    </>
  );
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly count: number;
  readonly tone: "good" | "warn" | "bad";
}

const ROWS: readonly Row[] = [
  { id: `0x${"1f".repeat(32)}`, name: "Harbour Custody", count: 1_204_311, tone: "good" },
  {
    id: `0x${"2e".repeat(32)}`,
    name: "a name that is longer than its column is wide",
    count: 87,
    tone: "warn",
  },
  { id: `0x${"3d".repeat(32)}`, name: "starter", count: 0, tone: "bad" },
];

const COLUMNS: readonly DataColumn<Row>[] = [
  { title: "Project", cell: ({ name }) => <Cut text={name} />, text: ({ name }) => name },
  { title: "Id", cell: ({ id }) => <Id id={id} what="id" href="#" />, text: ({ id }) => id },
  { title: "State", cell: ({ tone }) => <Badge tone={tone}>{tone}</Badge>, text: ({ tone }) => tone },
  {
    title: "Signatures",
    isNumber: true,
    cell: ({ count }) => formatCount(count),
    text: ({ count }) => `${count}`,
  },
];

const pagesOf = (items: readonly Row[]): Pages<Row> => ({
  name: "rows",
  subject: "",
  data: { items, nextPageToken: "" },
  isLoading: false,
  pageNumber: 1,
  toNext: () => {},
  toPrevious: undefined,
  toFirst: undefined,
  reload: () => {},
  readAll: async () => items,
});
