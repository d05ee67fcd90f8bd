import { LedgerEntry_KindSchema, LedgerEntrySchema } from "../../../gen/proto/tss/v1/billing_pb.ts";
import { formatDollars } from "../../protocol/price-table.ts";
import { loadConfig } from "../../service/config/config.ts";
import { type LedgerDifference, verifyLedger } from "../../service/ledger/verify-ledger.ts";
import { command, EXIT } from "../command.ts";
import { formatChange, formatEnum, formatTable, formatTime } from "../format.ts";
import { listCommand } from "../list-command.ts";
import { openConfiguredDatabase } from "../open-configured-database.ts";
import { flag } from "../option.ts";

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

const verify = command({
  summary: "recompute every balance and report each difference",
  details:
    "Exits with 1 if there is a difference. A running service does the same every hour, and warns in its log.\n" +
    "You can run it beside a running service, except on the embedded database: stop the service first.",
  options: { json: flag("print the differences as a JSON array") },
  async run({ json }, { environment, print, openDatabase = openConfiguredDatabase }) {
    const database = await openDatabase(loadConfig(environment), { migrates: false });
    try {
      const differences = await verifyLedger(database);
      print(json ? JSON.stringify(differences.map(plain)) : describe(differences));
      return differences.length > 0 ? EXIT.failed : EXIT.done;
    } finally {
      await database.close();
    }
  },
});

export const ledgerCommands = { list, verify };

/** JSON has no 64-bit integers, so they are text, as in the contract. */
function plain({ kind, subject, expected, actual }: LedgerDifference): Record<string, string> {
  return { kind, subject, expected: String(expected), actual: String(actual) };
}

function describe(differences: readonly LedgerDifference[]): string {
  if (differences.length === 0)
    return "the ledger is consistent: every balance, hold, charge, refund and deposit equals its recomputed value";
  const amount = ({ kind }: LedgerDifference, value: bigint): string =>
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
