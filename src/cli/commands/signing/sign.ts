import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type SignRequest,
  type SignRequest_Hold,
  SignRequest_Hold_State,
  SignRequest_Hold_StateSchema,
  SignRequest_Status,
  SignRequest_StatusSchema,
  SignRequestSchema,
} from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { SignatureAlgorithmSchema } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { formatDollars } from "../../../protocol/price-table.ts";
import {
  enumValue,
  flag,
  objectId,
  operand,
  optional,
  userReference,
  uuid,
} from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import type { Clients } from "../../connections/with-clients.ts";
import { formatEnum, formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";

const PROJECT = { caller: "project", isDirect: false } as const;
const REQUEST = operand("<sign-request-id>", "the request's id, as `tss sign list` shows it", uuid);

const list = listCommand({
  ...PROJECT,
  summary: "list a project's sign requests, newest first; --held shows those that wait for a release",
  options: {
    held: flag("show only requests whose half is held, and can be released or cancelled"),
    state: optional("<state>", "show only requests in this state", enumValue(SignRequest_Status)),
    dwallet: optional("<object-id>", "show only the requests of this dWallet", objectId),
    user: optional("<reference>", "show only the requests of this user's dWallets", userReference),
  },
  async read({ signing }, { held, state, dwallet, user }, page) {
    const { signRequests: rows, nextPageToken } = await signing.listSigns({
      held,
      ...(state !== undefined && { status: state }),
      ...(dwallet !== undefined && { dwalletId: dwallet }),
      ...(user !== undefined && { userReference: user }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: SignRequestSchema,
  columns: [
    { title: "REQUEST", of: ({ signRequestId }) => signRequestId },
    { title: "STATE", of: stateOf },
    { title: "HELD UNTIL", of: (request) => formatTime(heldUntil(request), "-") },
    {
      title: "ALGORITHM",
      of: ({ signatureAlgorithm }) => formatEnum(SignatureAlgorithmSchema, signatureAlgorithm),
    },
    { title: "PRICE", of: ({ priceMicroUsd }) => formatDollars(priceMicroUsd), align: "right" },
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
    { title: "DWALLET", of: ({ dwalletId }) => dwalletId },
    { title: "USER", of: ({ userReference: reference = "" }) => reference },
  ],
});

const get = requestCommand("show a sign request", ({ signing }, signRequestId) =>
  signing.getSign({ signRequestId }),
);

const release = requestCommand(
  "release a held half, so that the network makes the signature; needs the scope release",
  ({ signing }, signRequestId) => signing.releaseSign({ signRequestId }),
);

const cancel = requestCommand(
  "end a held half without a signature; refunds the price without the price of the hold",
  ({ signing }, signRequestId) => signing.cancelSign({ signRequestId }),
);

export const signCommands = { list, get, release, cancel };

/** Creates a command from a call that takes a request's id and returns the request. */
function requestCommand(summary: string, call: (clients: Clients, id: string) => Promise<SignRequest>) {
  return serviceCommand({
    ...PROJECT,
    summary,
    options: { request: REQUEST },
    call: (clients, { request }) => call(clients, request),
    reply: SignRequestSchema,
    show: (request) =>
      formatPairs([
        ["request", request.signRequestId],
        ["state", stateOf(request)],
        ["held until", formatTime(heldUntil(request))],
        ["dWallet", request.dwalletId],
        ["user", request.userReference],
        ["price", formatDollars(request.priceMicroUsd)],
        ["transaction", request.txDigest],
        ["failure", request.failure && `${request.failure.reason}: ${request.failure.message}`],
        ["refunded", request.failure && (request.failure.refunded ? "yes" : "no")],
      ]),
  });
}

/** A request whose half is with the network, or waits there, shows the state of its hold. */
function stateOf(request: SignRequest): string {
  const hold = openHold(request);
  return hold === undefined
    ? formatEnum(SignRequest_StatusSchema, request.status)
    : formatEnum(SignRequest_Hold_StateSchema, hold.state);
}

/** The time at which a half ends that nobody releases. Undefined if the request has no held half. */
function heldUntil(request: SignRequest): Timestamp | undefined {
  return openHold(request)?.expireTime;
}

function openHold({ status, hold }: SignRequest): SignRequest_Hold | undefined {
  return status === SignRequest_Status.queued && OPEN.some((state) => state === hold?.state)
    ? hold
    : undefined;
}

const OPEN = [SignRequest_Hold_State.verifying, SignRequest_Hold_State.held];
