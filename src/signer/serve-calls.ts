import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { HttpBody } from "../../gen/proto/google/api/httpbody_pb.ts";
import {
  Key_State,
  type KeySchema,
  Signer,
  type StageSchema,
} from "../../gen/proto/tss/signer/v1/signer_pb.ts";
import { Curve as ProtoCurve } from "../../gen/proto/tss/v1/types_pb.ts";
import { Curve } from "../client/sdk/index.ts";
import { hexToBytes } from "../protocol/bytes.ts";
import { addressesOfKey } from "../protocol/signatures/addresses.ts";
import { readPage } from "../service/platform/store/read-page.ts";
import { requestIdKey } from "../transport/calls/request-id.ts";
import { registerService, type ServiceRegistration } from "../transport/calls/service-registration.ts";
import type { Caller } from "./access/caller.ts";
import type { EthereumCalls } from "./ethereum/ethereum-calls.ts";
import type { Keys } from "./keys.ts";
import type { SigningCall, SigningStage } from "./request-signer.ts";
import { wrongField } from "./signer-error.ts";
import type { Signing } from "./signing.ts";
import type { StoredKey } from "./store/key-store.ts";
import { withStages } from "./with-stages.ts";

/** Implements the signer's contract. */
export function signerService(
  keys: Keys,
  signing: Signing,
  ethereum: EthereumCalls | undefined,
): ServiceRegistration {
  return registerService(Signer, {
    async createKey({ name, curve, userReference }, context) {
      return toMessage(await keys.create({ name, curve: curveOf(curve), userReference }, callerOf(context)));
    },
    getKey({ name }, context) {
      callerOf(context).checkKey(name);
      return toMessage(keys.get(name));
    },
    async listKeys(request, context) {
      const caller = callerOf(context);
      const { rows, nextPageToken } = await readPage<StoredKey>(request, {
        scope: ["signer keys"],
        positionOf: ({ name }) => name,
        position: /^[!-~]{1,128}$/,
        async read(after, count) {
          const all = keys.list().filter(({ name }) => caller.sees(name));
          const start = after === undefined ? 0 : all.findIndex(({ name }) => name > after);
          return start < 0 ? [] : all.slice(start, start + count);
        },
      });
      return { keys: rows.map(toMessage), nextPageToken };
    },
    sign: (request, context) => signing.sign(request, callOf(context)),
    async signMany({ requests }, context) {
      return { results: await signing.signMany(requests, callOf(context)) };
    },
    async *streamCreateKey({ name, curve, userReference }, context) {
      const request = { name, curve: curveOf(curve), userReference };
      const caller = callerOf(context);
      const events = withStages<SigningStage, StoredKey>((onStage) =>
        keys.create(request, caller, (stage, elapsedMs) => onStage({ name: stage, elapsedMs, index: 0 })),
      );
      for await (const event of events)
        yield "stage" in event
          ? { event: { case: "stage" as const, value: stageOf(event.stage) } }
          : { event: { case: "key" as const, value: toMessage(event.result) } };
    },
    async *streamSign(request, context) {
      const call = callOf(context);
      const events = withStages((onStage: (stage: SigningStage) => void) =>
        signing.sign(request, { ...call, onStage }),
      );
      for await (const event of events)
        yield "stage" in event
          ? { event: { case: "stage" as const, value: stageOf(event.stage) } }
          : { event: { case: "signed" as const, value: event.result } };
    },
    ...(ethereum && {
      async callEthereum({ data }: HttpBody, context: HandlerContext) {
        const reply = await ethereum.serve(data, callOf(context));
        return { contentType: "application/json", data: new TextEncoder().encode(reply ?? "") };
      },
    }),
  });
}

function callOf(context: HandlerContext): SigningCall {
  const requestId = context.values.get(requestIdKey);
  const timeoutMs = () => context.timeoutMs();
  return { caller: callerOf(context), requestId, signal: context.signal, timeoutMs };
}

/** The context value with the caller, which the gate of each server sets. */
export const callerKey = createContextKey<Caller | undefined>(undefined, { description: "caller" });

function callerOf({ values }: HandlerContext): Caller {
  const caller = values.get(callerKey);
  if (caller === undefined) throw new Error("no gate has recognized the caller");
  return caller;
}

function stageOf({ name, elapsedMs, index }: SigningStage): MessageInitShape<typeof StageSchema> {
  return { name, elapsedMs: Math.round(elapsedMs), index };
}

function curveOf(curve: ProtoCurve): Curve {
  const name = Object.values(Curve).find((each) => ProtoCurve[each] === curve);
  if (name === undefined) throw wrongField("curve", "is not a curve of this signer");
  return name;
}

/** Converts a key without its seed. */
function toMessage(key: StoredKey): MessageInitShape<typeof KeySchema> {
  const { name, curve, userReference, createTimeMs, progress } = key;
  const common = {
    name,
    curve: ProtoCurve[curve],
    createTime: timestampFromMs(createTimeMs),
    ...(userReference !== undefined && { userReference }),
  };
  if (progress.kind === "creating") return { ...common, state: Key_State.creating };
  const { dwalletId, publicKeyHex } = progress.dwallet;
  const publicKey = hexToBytes(publicKeyHex);
  const addresses = addressesOfKey(curve, publicKey).map((address) => ({ ...address }));
  return { ...common, state: Key_State.active, dwalletId, publicKey, addresses };
}
