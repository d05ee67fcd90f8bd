import { LedgerEntry_KindSchema, LedgerEntrySchema } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { formatDollars } from "../../../protocol/price-table.ts";
import { loadConfig } from "../../../service/config/config.ts";
import type { LedgerDifference } from "../../../service/ledger/verify-ledger.ts";
import { type CommandContext, command, EXIT } from "../../command-line/command.ts";
import { flag } from "../../command-line/option.ts";
import type { Target } from "../../connections/connection.ts";
import { openConfiguredDatabase } from "../../connections/open-configured-database.ts";
import { destinationOptions, explainKeys } from "../../connections/service-command.ts";
import { UnreachableError } from "../../connections/unreachable-error.ts";
import { findService, withClients } from "../../connections/with-clients.ts";
import { formatChange, formatEnum, formatTable, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";

const list = listCommand({
  summary: "list a project's ledger entries, newest first, with the balance after each",
  caller: "project",
  isDirect: true,
  options: {},
  async read({ billing }, _values, page) {
    const { ledgerEntries: rows, nextPageToken } = await billing.listLedgerEntries(page);
    return { rows, nextPageToken };
  },
  row: LedgerEntrySchema,
  columns: [
    { title: "TIME", of: ({ createTime }) => formatTime(createTime) },
    { title: "KIND", of: ({ kind }) => formatEnum(LedgerEntry_KindSchema, kind) },
    { title: "AMOUNT", of: ({ amountMicroUsd }) => formatChange(amountMicroUsd), align: "right" },
    { title: "BALANCE", of: ({ balanceMicroUsd }) => formatDollars(balanceMicroUsd), align: "right" },
    { title: "ENTRY", of: ({ ledgerEntryId }) => ledgerEntryId },
    { title: "DESCRIPTION", of: ({ description }) => description },
  ],
});

const CALL = { caller: "operator", isDirect: true } as const;

const verify = command({
  summary: "recompute every balance and report each difference",
  details: [
    "Exits with 1 if there is a difference. A running service does the same every hour, and warns in its log.",
    "With a service, it shows the service's last verification instead: a verification reads every row of the ledger in",
    "one statement, which would hold up the calls of a service on the embedded database.",
    explainKeys(CALL),
  ].join("\n"),
  options: { json: flag("print the differences as a JSON array"), ...destinationOptions },
  async run({ json, ...destination }, context) {
    const target = { ...CALL, ...destination };
    const url = await findService(context, target);
    const { differences, count } =
      url === undefined ? await verifyDatabase(context) : await lastOfService(context, { ...target, url });
    context.print(json ? JSON.stringify(differences.map(plain)) : describe(differences));
    if (count > differences.length)
      context.note(`only ${differences.length} of ${count} differences are shown`);
    return count > 0 ? EXIT.failed : EXIT.done;
  },
});

interface Verified {
  readonly differences: readonly Difference[];
  /** May be more than those listed. */
  readonly count: number;
}

type Difference = Omit<LedgerDifference, "kind"> & { readonly kind: string };

async function verifyDatabase({
  environment,
  openDatabase = openConfiguredDatabase,
}: CommandContext): Promise<Verified> {
  const { verifyLedger } = await import("../../../service/ledger/verify-ledger.ts");
  const database = await openDatabase(loadConfig(environment), { migrates: false, takesUrl: true });
  try {
    const differences = await verifyLedger(database);
    return { differences, count: differences.length };
  } finally {
    await database.close();
  }
}

/** Reads the result of the service's last verification. Throws an UnreachableError before the first one. */
async function lastOfService(context: CommandContext, target: Target): Promise<Verified> {
  const { ledgerVerification: last } = await withClients(context, target, ({ operations }) =>
    operations.getMoney({}),
  );
  if (last === undefined)
    throw new UnreachableError("the service has not verified its ledger yet; try again in a minute");
  context.note(`the service verified its ledger at ${formatTime(last.verifyTime)}`);
  return { differences: last.differences, count: last.differenceCount };
}

export const ledgerCommands = { list, verify };

/** JSON has no 64-bit integers, so they are text, as in the contract. */
function plain({ kind, subject, expected, actual }: Difference): Record<string, string> {
  return { kind, subject, expected: String(expected), actual: String(actual) };
}

function describe(differences: readonly Difference[]): string {
  if (differences.length === 0)
    return "the ledger is consistent: every balance, hold, charge, refund and deposit equals its recomputed value";
  const amount = ({ kind }: Difference, value: bigint): string =>
    kind === "reservations" ? String(value) : formatDollars(value);
  return formatTable(
    [
      { title: "DIFFERENCE", of: ({ kind }) => kind },
      { title: "OF", of: ({ subject }) => subject },
      { title: "EXPECTED", of: (each) => amount(each, each.expected), align: "right" },
      { title: "FOUND", of: (each) => amount(each, each.actual), align: "right" },
    ],
    differences,
  );
}
