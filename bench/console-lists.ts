/**
 * The lists that the console pages through, on a database with few rows and on one with many: the median time of a page,
 * and the rows that PostgreSQL reads for it. `npx tsx bench/console-lists.ts [--requests 1000000] [--projects 10000]`;
 * PostgreSQL as in TEST_DATABASE_URL, else 127.0.0.1, as a superuser. A million requests need about 5 GB.
 */
import { parseArgs } from "node:util";
import sql from "sql-template-tag";
import { listProjects } from "../src/service/access/projects.ts";
import { listAuditEvents } from "../src/service/audit/list-audit-events.ts";
import { listLedgerEntries } from "../src/service/billing/ledger-entries.ts";
import { listChainTransactions } from "../src/service/operator/calls/chain-calls.ts";
import { text } from "../src/service/platform/store/columns.ts";
import { type Database, readRows } from "../src/service/platform/store/database.ts";
import { migrate } from "../src/service/platform/store/migrate.ts";
import { openPostgres } from "../src/service/platform/store/open-postgres.ts";
import type { Page, PageRequest } from "../src/service/platform/store/read-page.ts";
import { listSigns } from "../src/service/signing/shown-sign-request.ts";
import { explainReads } from "../test/support/database/explain-plan.ts";
import { testDatabase } from "../test/support/database/postgres.ts";
import {
  openRecordedDatabase,
  type RecordedStatement,
} from "../test/support/database/recorded-statements.ts";
import { silentLog } from "../test/support/silent-log.ts";
import { fillOldRows } from "./support/fill-old-rows.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "1000000" },
    projects: { type: "string", default: "10000" },
  },
});
const NETWORK = "localnet";
/** {@link fillOldRows} counts the rows of all tables: eleven for each request. */
const ROWS_PER_REQUEST = 11;
const PAGES_DEEP = 5;
const ROUNDS = 20;

const few = await measure(1_000, 10);
const many = await measure(Number(values.requests), Number(values.projects));
console.log(
  `| list | page | 1,000 requests, 10 projects | ${values.requests} requests, ${values.projects} projects |\n|---|---|---|---|`,
);
for (const [index, { list, page, ...small }] of few.entries())
  console.log(`| ${list} | ${page} | ${figureText(small)} | ${figureText(many[index]!)} |`);

async function measure(requests: number, projects: number): Promise<PageFigure[]> {
  const scratch = await testDatabase();
  if (scratch === undefined) throw new Error("this needs a PostgreSQL server");
  try {
    const database = await openPostgres(scratch.url, silentLog);
    await migrate(database, silentLog);
    await database.close();
    await fillOldRows(scratch.url, { rows: requests * ROWS_PER_REQUEST, projects });
    const recorded = new Map<string, RecordedStatement>();
    const recording = await openRecordedDatabase(scratch.url, recorded);
    const [largest] = await readRows(
      recording,
      sql`SELECT project_id AS id FROM sign_request GROUP BY project_id ORDER BY count(*) DESC LIMIT 1`,
      { id: text },
    );
    const projectId = largest?.id ?? "";
    const figures: PageFigure[] = [];
    for (const [list, read] of Object.entries(listsOf(recording, projectId))) {
      figures.push(await measurePage(recording, recorded, { list, page: "first", read, pageToken: "" }));
      // The filled transactions have digests that no page token can have.
      const pageToken = list === "transactions" ? "" : await tokenAfter(read, PAGES_DEEP);
      if (pageToken === "") figures.push({ list, page: "sixth", ms: undefined, rows: undefined });
      else figures.push(await measurePage(recording, recorded, { list, page: "sixth", read, pageToken }));
    }
    await recording.close();
    return figures;
  } finally {
    await scratch.drop();
  }
}

interface PageFigure {
  readonly list: string;
  readonly page: string;
  /** Undefined if the list has no such page. */
  readonly ms: number | undefined;
  readonly rows: number | undefined;
}

type ReadList = (request: PageRequest) => Promise<Page<unknown>>;

function listsOf(database: Database, projectId: string): Readonly<Record<string, ReadList>> {
  const signs = { dwalletId: undefined, status: undefined };
  const ever = { startTime: undefined, endTime: undefined };
  const events = { ...ever, projectId: undefined, actor: undefined, action: undefined };
  return {
    "sign requests of the largest project": (page) =>
      listSigns(database, { projectId }, { ...page, ...signs }),
    "its failed sign requests": (page) =>
      listSigns(database, { projectId }, { ...page, ...signs, status: "failed" }),
    "its ledger": (page) => listLedgerEntries(database, projectId, page),
    projects: (page) => listProjects(database, [NETWORK], page),
    "audit events": (page) => listAuditEvents(database, [NETWORK], { ...page, ...events }),
    "audit events of the largest project": (page) =>
      listAuditEvents(database, [NETWORK], { ...page, ...events, projectId }),
    transactions: (page) =>
      listChainTransactions(database, NETWORK, {
        ...page,
        ...{ lane: undefined, state: undefined, kind: undefined },
      }),
  };
}

async function tokenAfter(read: ReadList, pages: number): Promise<string> {
  let pageToken = "";
  for (let count = 0; count < pages; count++) {
    ({ nextPageToken: pageToken } = await read({ pageSize: 0, pageToken }));
    if (pageToken === "") return "";
  }
  return pageToken;
}

async function measurePage(
  database: Database,
  recorded: Map<string, RecordedStatement>,
  { list, page, read, pageToken }: MeasuredPage,
): Promise<PageFigure> {
  recorded.clear();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const beganMs = performance.now();
    await read({ pageSize: 0, pageToken });
    times.push(performance.now() - beganMs);
  }
  const statements = [...recorded.values()].filter((each) => /^\s*(?:SELECT|WITH)/i.test(each.text));
  let rows = 0;
  for (const statement of statements)
    rows += await database.transaction(async (db) =>
      (await explainReads(db, statement)).reduce((sum, each) => sum + (each.rows ?? 0), 0),
    );
  return { list, page, ms: times.toSorted((one, other) => one - other)[ROUNDS / 2], rows };
}

interface MeasuredPage {
  readonly list: string;
  readonly page: string;
  readonly read: ReadList;
  readonly pageToken: string;
}

function figureText({ ms, rows }: Pick<PageFigure, "ms" | "rows">): string {
  return ms === undefined || rows === undefined ? "—" : `${ms.toFixed(1)} ms, ${rows} rows read`;
}
