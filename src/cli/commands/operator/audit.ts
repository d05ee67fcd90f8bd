import { once } from "node:events";
import { createReadStream } from "node:fs";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { bytesToHex } from "@noble/hashes/utils.js";
import { AuditEventSchema, GetAuditProofResponseSchema } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { AuditSealSchema } from "../../../../gen/proto/tss/v1/audit_pb.ts";
import { isProved } from "../../../protocol/seals/verify-proof.ts";
import type { ExportRange } from "../../../service/audit/export-line.ts";
import type { ExportReport } from "../../../service/audit/verify-export.ts";
import { loadConfig } from "../../../service/config/config.ts";
import { type CommandContext, command, EXIT } from "../../command-line/command.ts";
import {
  flag,
  hash,
  hashes,
  nonEmptyText,
  operand,
  optional,
  pastTime,
  rowNumber,
  uuid,
} from "../../command-line/option.ts";
import { openConfiguredDatabase } from "../../connections/open-configured-database.ts";
import { destinationOptions, explainKeys, serviceCommand } from "../../connections/service-command.ts";
import { findService, withClients } from "../../connections/with-clients.ts";
import { formatChange, formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";
import { listTrail } from "../../output/list-trail.ts";
import { writeNewFile } from "../../output/write-new-file.ts";

export const auditProof = serviceCommand({
  caller: "operator",
  isDirect: true,
  summary: "show an event and verify the proof that a seal covers it",
  options: { event: operand("<number>", "the event's number in `tss audit list`", rowNumber) },
  async call({ admin }, { event }) {
    const reply = await admin.getAuditProof({ auditEventId: event });
    if (!isProved(reply)) throw new Error("the proof is invalid: its hashes do not lead to its seal");
    return reply;
  },
  reply: GetAuditProofResponseSchema,
  show: ({ auditEvent: event, auditSeal: seal }) =>
    [
      formatPairs([
        ["time", formatTime(event?.createTime)],
        ["actor", event?.actor],
        ["action", event?.action],
        ["subject", event?.subject],
        ["project", event?.projectId],
        ["address", event?.address],
        ["request", event?.requestId],
        ["ledger entry", event?.ledgerEntryId],
        ["amount", event?.amountMicroUsd === undefined ? undefined : formatChange(event.amountMicroUsd)],
        ["entry", event?.sequence?.toString()],
        ["seal", seal?.number.toString()],
        ["seal hash", seal && bytesToHex(seal.sealHash)],
      ]),
      "",
      "The seal covers this event. Compare its hash with the one that you recorded elsewhere.",
    ].join("\n"),
});

const CALL = { caller: "operator", isDirect: true } as const;

export const auditExport = command({
  summary: "export the sealed audit trail, one entry per line",
  details: `Never overwrites a file. You can run it beside a running service.\n${explainKeys(CALL)}`,
  options: {
    fromSeal: optional("<number>", "the first seal; default the oldest", rowNumber),
    toSeal: optional("<number>", "the last seal; default the newest", rowNumber),
    output: optional("<file>", "a new file; default standard output", nonEmptyText),
    ...destinationOptions,
  },
  async run({ fromSeal, toSeal, output, ...destination }, context) {
    const range = { fromSeal, toSeal };
    const write = (lines: AsyncIterable<Buffer>) =>
      output === undefined ? writeToStandardOutput(lines) : writeNewFile(output, lines);
    const target = { ...CALL, ...destination };
    const url = await findService(context, target);
    const count = url === undefined ? await ofDatabase(context, range, write) : await ofService();
    if (count > 0) context.note(`${count} newer events are not sealed yet and are not in the export`);

    async function ofService(): Promise<number> {
      let unsealedCount = 0;
      await withClients(context, { ...target, url }, ({ admin }) =>
        write(listTrail(admin, range, () => unsealedCount++)),
      );
      return unsealedCount;
    }
  },
});

type Write = (lines: AsyncIterable<Buffer>) => Promise<void>;

/** Returns the number of unsealed events. */
async function ofDatabase(
  { environment, openDatabase = openConfiguredDatabase }: CommandContext,
  range: ExportRange,
  write: Write,
): Promise<number> {
  const { exportAudit } = await import("../../../service/audit/export-line.ts");
  const { countUnsealed } = await import("../../../service/audit/seal-events.ts");
  const database = await openDatabase(loadConfig(environment), { migrates: false, takesUrl: true });
  try {
    await write(exportAudit(database, range));
    return await countUnsealed(database);
  } finally {
    await database.close();
  }
}

async function writeToStandardOutput(lines: AsyncIterable<Buffer>): Promise<void> {
  for await (const line of lines) {
    if (!process.stdout.write(line)) await once(process.stdout, "drain");
  }
}

export const auditVerify = command({
  summary: "verify an export, without a configuration or a database",
  details: "Lists every entry that was changed, removed or moved. Exits with 1 if there is one.",
  options: {
    file: operand("<file>", "a file from `tss audit export`", nonEmptyText),
    expectSeal: optional(
      "<hash>",
      "the hash of a seal, recorded elsewhere, that the export must contain",
      hash,
    ),
    publicKey: optional("<keys>", "the permitted signing keys of the seals, separated by commas", hashes),
    json: flag("print a JSON object"),
  },
  async run({ file, expectSeal, publicKey = [], json }, { print }) {
    const { splitLines } = await import("../../../service/audit/export-line.ts");
    const { verifyExport } = await import("../../../service/audit/verify-export.ts");
    const report = await verifyExport(splitLines(createReadStream(file)), {
      expectedSealHash: expectSeal,
      publicKeys: publicKey,
    });
    print(json ? JSON.stringify(plain(report)) : describe(report));
    return report.faults.length > 0 ? EXIT.failed : EXIT.done;
  },
});

const SHOWN_COUNT = 20;

/** JSON has no 64-bit integers, so they are text, as in the contract. */
function plain(report: ExportReport): object {
  const { faults, isCut, sealCount, entryCount, newestSeal, isSigned } = report;
  return {
    valid: faults.length === 0,
    seals: String(sealCount),
    entries: String(entryCount),
    newestSeal: newestSeal && {
      number: String(newestSeal.number),
      lastSequence: String(newestSeal.lastSequence),
      sealHash: hex(newestSeal.sealHash),
      createTime: newestSeal.createdAt.toISOString(),
      signed: isSigned,
    },
    faults: faults.map(({ sequence, lastSequence, seal, ...fault }) => ({
      ...fault,
      sequence: sequence?.toString(),
      lastSequence: lastSequence?.toString(),
      seal: seal?.toString(),
    })),
    cut: isCut,
  };
}

function describe({ faults, isCut, sealCount, entryCount, newestSeal, isSigned }: ExportReport): string {
  const [first] = faults;
  const found = `${sealCount} seals, ${entryCount} entries`;
  const newest = newestSeal
    ? `newest seal ${newestSeal.number} of ${newestSeal.createdAt.toISOString()}\n${hex(newestSeal.sealHash)}`
    : "no seal";
  if (first === undefined) {
    return [`the export is intact: ${found}${isSigned ? ", signed" : ""}`, newest].join("\n");
  }
  const shown = faults.slice(0, SHOWN_COUNT).map(({ message }) => `  ${message}`);
  const hiddenCount = faults.length - shown.length;
  const more = isCut
    ? ["  and more; the rest was not checked"]
    : hiddenCount > 0
      ? [`  and ${hiddenCount} more`]
      : [];
  return [`the export was changed after it was sealed: ${found}`, ...shown, ...more].join("\n");
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const list = listCommand({
  caller: "operator",
  isDirect: true,
  summary: "list audit events, newest first",
  options: {
    project: optional("<id>", "show only events of this project", uuid),
    actor: optional(
      "<actor>",
      "show only events by this actor, such as admin:alice, key:<id> or system",
      nonEmptyText,
    ),
    action: optional("<action>", "show only events of this action, such as api_key.revoke", nonEmptyText),
    from: optional("<time>", "show only events from this time on", pastTime),
    to: optional("<time>", "show only events before this time", pastTime),
  },
  async read({ admin }, { project, actor, action, from, to }, page) {
    const filter = {
      ...(project && { projectId: project }),
      ...(actor && { actor }),
      ...(action && { action }),
      ...(from && { startTime: timestampFromDate(from) }),
      ...(to && { endTime: timestampFromDate(to) }),
    };
    const { auditEvents: rows, nextPageToken } = await admin.listAuditEvents({ ...filter, ...page });
    return { rows, nextPageToken };
  },
  row: AuditEventSchema,
  columns: [
    { title: "EVENT", of: ({ auditEventId }) => String(auditEventId), align: "right" },
    { title: "TIME", of: ({ createTime }) => formatTime(createTime) },
    { title: "ACTOR", of: ({ actor }) => actor },
    { title: "ACTION", of: ({ action }) => action },
    { title: "SUBJECT", of: ({ subject }) => subject },
    { title: "PROJECT", of: ({ projectId }) => projectId || "-" },
    { title: "ADDRESS", of: ({ address }) => address || "-" },
    { title: "REQUEST", of: ({ requestId }) => requestId || "-" },
  ],
});

const seals = listCommand({
  caller: "operator",
  isDirect: true,
  summary: "list the seals of the audit trail, newest first",
  options: {},
  async read({ admin }, _values, page) {
    const { auditSeals: rows, nextPageToken } = await admin.listAuditSeals(page);
    return { rows, nextPageToken };
  },
  row: AuditSealSchema,
  columns: [
    { title: "SEAL", of: ({ number }) => String(number), align: "right" },
    { title: "TIME", of: ({ createTime }) => formatTime(createTime) },
    {
      title: "ENTRIES",
      of: ({ firstSequence, lastSequence }) => `${firstSequence} to ${lastSequence}`,
    },
    { title: "SIGNED BY", of: ({ publicKey }) => (publicKey.length > 0 ? bytesToHex(publicKey) : "-") },
    { title: "HASH", of: ({ sealHash }) => bytesToHex(sealHash) },
  ],
});

export const auditCommands = { list, seals, proof: auditProof, export: auditExport, verify: auditVerify };
