/**
 * The lists that the console pages through, with few rows and with many in one project: the ratio of the times of a
 * page, and the rows that PostgreSQL reads for it. `npx tsx bench/console-lists.ts [--rows 1000000] [--projects 10000]`;
 * PostgreSQL as in TEST_DATABASE_URL, else 127.0.0.1, as a superuser. A million rows of each list need about 12 GB.
 */
import { parseArgs } from "node:util";
import sql from "sql-template-tag";
import { text } from "../src/service/platform/store/columns.ts";
import { readRows } from "../src/service/platform/store/database.ts";
import { migrate } from "../src/service/platform/store/migrate.ts";
import { openPostgres } from "../src/service/platform/store/open-postgres.ts";
import { explainReads } from "../test/support/database/explain-plan.ts";
import { type TestDatabase, testDatabase } from "../test/support/database/postgres.ts";
import {
  openRecordedDatabase,
  type RecordedStatement,
} from "../test/support/database/recorded-statements.ts";
import { silentLog } from "../test/support/silent-log.ts";
import { consoleLists, type ListedProject, type ReadList } from "./support/console-lists.ts";
import { fillOldRows } from "./support/fill-old-rows.ts";
import { fillProjectLists } from "./support/fill-project-lists.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    projects: { type: "string", default: "10000" },
    /** A part of the names of the lists to measure. */
    only: { type: "string", default: "" },
  },
});
/** {@link fillOldRows} counts the rows of all tables: eleven for each request. */
const ROWS_PER_REQUEST = 11;
/** The first project has nine tenths of the requests. */
const REQUESTS_PER_ROW = 10 / 9;
const PAGES_DEEP = 5;
const ROUNDS = 21;

const scratches: TestDatabase[] = [];
const opened: FilledDatabase[] = [];
try {
  const few = await fillDatabase(1_000, 10);
  const many = await fillDatabase(Number(values.rows), Number(values.projects));
  console.log(`| list | page | 1,000 rows | ${values.rows} rows | ratio |\n|---|---|---|---|---|`);
  const lists = Object.entries(consoleLists(few)).filter(([name]) => name.includes(values.only));
  for (const [name, readFew] of lists) {
    const readMany = consoleLists(many)[name]!;
    for (const pages of [0, PAGES_DEEP]) {
      const fewToken = await tokenAfter(readFew, pages);
      const manyToken = await tokenAfter(readMany, pages);
      if (fewToken === undefined || manyToken === undefined) continue;
      const times = await measure(
        () => readFew({ pageSize: 0, pageToken: fewToken }),
        () => readMany({ pageSize: 0, pageToken: manyToken }),
      );
      const rows = [
        await rowsRead(few, () => readFew({ pageSize: 0, pageToken: fewToken })),
        await rowsRead(many, () => readMany({ pageSize: 0, pageToken: manyToken })),
      ];
      console.log(
        `| ${name} | ${pages === 0 ? "first" : "sixth"} | ${times.few.toFixed(1)} ms, ${rows[0]} rows ` +
          `| ${times.many.toFixed(1)} ms, ${rows[1]} rows | ${times.ratio} |`,
      );
    }
  }
} finally {
  for (const { database } of opened) await database.close();
  for (const scratch of scratches) await scratch.drop();
}

interface FilledDatabase extends ListedProject {
  readonly recorded: Map<string, RecordedStatement>;
}

async function fillDatabase(rows: number, projects: number): Promise<FilledDatabase> {
  const scratch = await testDatabase();
  if (scratch === undefined) throw new Error("this needs a PostgreSQL server");
  scratches.push(scratch);
  const empty = await openPostgres(scratch.url, silentLog);
  await migrate(empty, silentLog);
  await empty.close();
  await fillOldRows(scratch.url, {
    ...{ rows: rows * REQUESTS_PER_ROW * ROWS_PER_REQUEST, projects },
    largestShare: "nine-tenths",
  });
  const recorded = new Map<string, RecordedStatement>();
  const database = await openRecordedDatabase(scratch.url, recorded);
  const [largest] = await readRows(
    database,
    sql`SELECT project_id AS id FROM sign_request GROUP BY project_id ORDER BY count(*) DESC LIMIT 1`,
    { id: text },
  );
  const projectId = largest?.id ?? "";
  const filled = await fillProjectLists(scratch.url, { projectId, count: rows });
  opened.push({ ...filled, projectId, recorded, database });
  return opened.at(-1)!;
}

/** Returns the token of the page after so many pages; undefined if the list has no such page. */
async function tokenAfter(read: ReadList, pages: number): Promise<string | undefined> {
  let pageToken = "";
  for (let count = 0; count < pages; count++) {
    ({ nextPageToken: pageToken } = await read({ pageSize: 0, pageToken }));
    if (pageToken === "") return undefined;
  }
  return pageToken;
}

/** Reads both pages in turn, so that other work on the machine slows down both. */
async function measure(
  readFew: () => Promise<unknown>,
  readMany: () => Promise<unknown>,
): Promise<PageTimes> {
  const rounds: { readonly few: number; readonly many: number }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ few: await timeOf(readFew), many: await timeOf(readMany) });
  const ratios = sorted(rounds.map(({ few, many }) => many / few));
  const at = (share: number) => ratios[Math.floor(share * (ROUNDS - 1))]!.toFixed(1);
  return {
    few: sorted(rounds.map(({ few }) => few))[ROUNDS >> 1]!,
    many: sorted(rounds.map(({ many }) => many))[ROUNDS >> 1]!,
    ratio: `${at(0.5)} (${at(0.1)} to ${at(0.9)})`,
  };
}

/** Medians in milliseconds, and the median of the ratios with its range from the tenth to the ninetieth percentile. */
interface PageTimes {
  readonly few: number;
  readonly many: number;
  readonly ratio: string;
}

async function timeOf(read: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await read();
  return performance.now() - beganMs;
}

function sorted(numbers: readonly number[]): number[] {
  return numbers.toSorted((one, other) => one - other);
}

async function rowsRead(
  { database, recorded }: FilledDatabase,
  read: () => Promise<unknown>,
): Promise<number> {
  recorded.clear();
  await read();
  let rows = 0;
  for (const statement of recorded.values()) {
    if (!/^\s*(?:SELECT|WITH)/i.test(statement.text)) continue;
    const reads = await database.transaction((db) => explainReads(db, statement));
    rows += reads.reduce((sum, each) => sum + (each.rows ?? 0), 0);
  }
  return rows;
}
