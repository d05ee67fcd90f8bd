import {
  ChainOperation_KindSchema,
  ChainTransaction_StateSchema,
  InspectedOperation_StateSchema,
  type InspectSubjectResponse,
  InspectSubjectResponseSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { SignRequest_StatusSchema } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { operand, WrongValue } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatChange, formatEnum, formatPairs, formatTable, formatTime } from "../../output/format.ts";

/** An id of a row or of an object, as people copy it. */
function subjectId(text: string): string {
  const id = text.trim().toLowerCase();
  if (!/^(?:0x[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(id))
    throw new WrongValue("takes a UUID, or an object id: 0x and 64 hex digits");
  return id;
}

export const inspectCommand = serviceCommand({
  caller: "operator",
  isDirect: false,
  summary: "tell what happened to a sign request, a dWallet or an operation of any project; is audited",
  options: {
    subject: operand(
      "<id>",
      "the id of a sign request, the object id of a dWallet, or the subject of an operation",
      subjectId,
    ),
  },
  call: ({ admin }, { subject }) => admin.inspectSubject({ subjectId: subject }),
  reply: InspectSubjectResponseSchema,
  show: (found) =>
    [formatPairs(factsOf(found)), operationsOf(found), entriesOf(found)]
      .filter((part) => part !== "")
      .join("\n\n"),
});

function factsOf({ subjectId, projectId, signRequest, dwallet }: InspectSubjectResponse) {
  const failure = signRequest?.failure;
  return [
    ["subject", subjectId],
    ["project", projectId],
    ["state", signRequest ? formatEnum(SignRequest_StatusSchema, signRequest.status) : dwallet?.state],
    ["dWallet", signRequest?.dwalletId ?? dwallet?.dwalletId],
    ["created", formatTime((signRequest ?? dwallet)?.createTime)],
    ["changed", formatTime((signRequest ?? dwallet)?.updateTime)],
    ["failure", failure ? `${failure.reason}: ${failure.message}` : dwallet?.failureReason],
    ["session", signRequest?.signSessionId],
  ] as const;
}

function operationsOf({ operations }: InspectSubjectResponse): string {
  if (operations.length === 0) return "";
  return formatTable(
    [
      { title: "OPERATION", of: ({ kind }) => formatEnum(ChainOperation_KindSchema, kind) },
      { title: "STATE", of: ({ state }) => formatEnum(InspectedOperation_StateSchema, state) },
      { title: "QUEUED", of: ({ createTime }) => formatTime(createTime) },
      { title: "CHANGED", of: ({ updateTime }) => formatTime(updateTime) },
      { title: "TRANSACTION", of: ({ chainTransaction }) => chainTransaction?.txDigest ?? "-" },
      {
        title: "OUTCOME",
        of: ({ chainTransaction }) =>
          chainTransaction ? formatEnum(ChainTransaction_StateSchema, chainTransaction.state) : "-",
      },
      {
        title: "FAILURE",
        of: ({ failureReason, failureMessage = "", chainTransaction }) =>
          failureReason ? `${failureReason}: ${failureMessage}` : (chainTransaction?.errorMessage ?? ""),
      },
    ],
    operations,
  );
}

function entriesOf({ ledgerEntries }: InspectSubjectResponse): string {
  if (ledgerEntries.length === 0) return "";
  return formatTable(
    [
      { title: "BOOKED", of: ({ createTime }) => formatTime(createTime) },
      { title: "AMOUNT", of: ({ amountMicroUsd }) => formatChange(amountMicroUsd), align: "right" },
      { title: "ENTRY", of: ({ ledgerEntryId }) => ledgerEntryId },
    ],
    ledgerEntries,
  );
}
