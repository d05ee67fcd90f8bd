import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Command, UsageError } from "../command-line/command.ts";
import { count, flag, type Options, optional, type Values } from "../command-line/option.ts";
import {
  type CallOptionValues,
  type CallShape,
  callOptions,
  explainKeys,
  formatMessage,
  targetOf,
} from "../connections/service-command.ts";
import { type Clients, withClients } from "../connections/with-clients.ts";
import { formatTable, type TableColumn } from "./format.ts";

/** Creates a command from a list, with the common options for pages, the destination and the output. */
export function listCommand<O extends Options, D extends DescMessage>(
  definition: ListCommand<O, D>,
): Command {
  const { summary, read, row, columns } = definition;
  return {
    summary,
    details: explainKeys(definition),
    options: { ...definition.options, ...LIST_OPTIONS, ...callOptions(definition) },
    async run(given, context) {
      const { print, note } = context;
      const values = given as Values<O> & ListValues;
      if (values.all && values.limit !== undefined)
        throw new UsageError("--all and --limit exclude each other");
      const rows: MessageShape<D>[] = [];
      const isMore = await withClients(context, targetOf(definition, values), (clients) =>
        walk(
          values,
          (page) => read(clients, values, page),
          (found) => {
            if (values.json) for (const each of found) print(formatMessage(row, each));
            else rows.push(...found);
          },
        ),
      );
      if (rows.length > 0) print(formatTable(columns, rows));
      else if (!values.json) note("no items");
      if (isMore) note("more items exist; use --limit or --all");
    },
  };
}

/** The service's maximum page size. */
const PAGE_MAX_COUNT = 200;
const DEFAULT_LIMIT = 50;

/** The definition of a command that lists a collection of the contract. */
export interface ListCommand<O extends Options, D extends DescMessage> extends Omit<CallShape, "isKeyed"> {
  readonly summary: string;
  /** In addition to the common options. */
  readonly options: O;
  readonly read: (clients: Clients, values: Values<O>, page: PageCall) => Promise<Page<MessageShape<D>>>;
  /** The type of a row. `--json` prints one row per line. */
  readonly row: D;
  /** Formats the rows as a table. */
  readonly columns: readonly TableColumn<MessageShape<D>>[];
}

/** Requests a page. */
export interface PageCall {
  readonly pageSize: number;
  readonly pageToken: string;
}

interface Page<Row> {
  readonly rows: readonly Row[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

interface ListValues extends CallOptionValues {
  readonly limit: number | undefined;
  readonly all: boolean;
  readonly pageSize: number | undefined;
}

const LIST_OPTIONS = {
  limit: optional(
    "<count>",
    `the maximum number of items; default ${DEFAULT_LIMIT}`,
    count(1, 1_000_000_000),
  ),
  all: flag("show all items"),
  pageSize: optional(
    "<count>",
    `the number of items per call, at most ${PAGE_MAX_COUNT}`,
    count(1, PAGE_MAX_COUNT),
  ),
};

/** Reads page after page. Returns true if more rows exist than requested. */
async function walk<Row>(
  { limit = DEFAULT_LIMIT, all, pageSize = PAGE_MAX_COUNT }: ListValues,
  read: (page: PageCall) => Promise<Page<Row>>,
  take: (rows: readonly Row[]) => void,
): Promise<boolean> {
  let left = all ? Number.POSITIVE_INFINITY : limit;
  let pageToken = "";
  do {
    const page = await read({ pageSize: Math.min(pageSize, left), pageToken });
    take(page.rows);
    left -= page.rows.length;
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && left > 0);
  return pageToken !== "";
}
