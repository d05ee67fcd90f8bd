/** Native gRPC of the local fullnode, called by @grpc/grpc-js. */
import { once } from "node:events";
import { connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import {
  Client,
  type ClientReadableStream,
  credentials,
  type Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { GrpcTypes } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Harness, startHarness } from "../harness.ts";

const LEDGER = "/sui.rpc.v2.LedgerService";
const SUBSCRIBE = "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints";
const { GetServiceInfoRequest, GetServiceInfoResponse, GetCheckpointRequest } = GrpcTypes;
const { SubscribeCheckpointsRequest, SubscribeCheckpointsResponse } = GrpcTypes;

let harness: Harness;
let client: Client;
beforeEach(async () => {
  harness = await startHarness();
  client = new Client(`127.0.0.1:${harness.net.port}`, credentials.createInsecure());
});
afterEach(async () => {
  client.close();
  await harness.close();
});

interface Reply {
  readonly message?: Uint8Array | undefined;
  readonly head?: Metadata;
  readonly error?: ServiceError | undefined;
}

/** Calls a unary method with the bytes of its request. */
function call(path: string, request: Uint8Array): Promise<Reply> {
  return new Promise((resolve) => {
    let head: Metadata | undefined;
    const answered = client.makeUnaryRequest(
      path,
      Buffer.from,
      (octets: Buffer) => octets,
      request,
      (error, message) => resolve({ message, error: error ?? undefined, ...(head && { head }) }),
    );
    answered.on("metadata", (found: Metadata) => {
      head = found;
    });
  });
}

function subscribe(): ClientReadableStream<GrpcTypes.SubscribeCheckpointsResponse> {
  return client.makeServerStreamRequest(
    SUBSCRIBE,
    Buffer.from,
    (octets: Buffer) => SubscribeCheckpointsResponse.fromBinary(octets),
    SubscribeCheckpointsRequest.toBinary({ readMask: { paths: ["sequence_number"] } }),
  );
}

const pay = () =>
  harness.run((tx) =>
    tx.transferObjects([tx.splitCoins(tx.gas, [1n])[0]!], Ed25519Keypair.generate().toSuiAddress()),
  );

it("answers a unary call as gRPC-web does, and names its chain", async () => {
  const { message, head, error } = await call(`${LEDGER}/GetServiceInfo`, GetServiceInfoRequest.toBinary({}));
  expect(error).toBeUndefined();
  const { chainId } = GetServiceInfoResponse.fromBinary(message!);
  expect(chainId).toBe(harness.net.chainId);
  expect(chainId).toBe((await harness.client.ledgerService.getServiceInfo({})).response.chainId);
  expect(head!.get("x-sui-chain-id")).toEqual([chainId]);
});

it.each([
  ["a method that it lacks", "/sui.rpc.v2.LedgerService/No:Such", new Uint8Array(), 12, /No:Such is not/],
  ["a malformed message", `${LEDGER}/GetServiceInfo`, Uint8Array.of(0xff), 3, /malformed request message/],
  ["a missing object", `${LEDGER}/GetCheckpoint`, checkpoint(9_999n), 5, /Checkpoint not found/],
  ["a body that is too large", `${LEDGER}/GetServiceInfo`, new Uint8Array(1_100_000), 8, /1048576 bytes/],
])("answers %s with its status and a text that needs no decoding", async (_, path, request, code, text) => {
  const { error } = await call(path, request);
  expect(error).toMatchObject({ code, details: expect.stringMatching(text) });
});

it("streams each checkpoint, until the caller cancels", async () => {
  const stream = subscribe();
  await once(stream, "metadata");
  const height = (await harness.client.ledgerService.getServiceInfo({})).response.checkpointHeight!;
  const seen: bigint[] = [];
  const both = new Promise<void>((resolve) => {
    stream.on("data", ({ cursor }: GrpcTypes.SubscribeCheckpointsResponse) => {
      if (seen.push(cursor!) === 2) resolve();
    });
  });
  await pay();
  await pay();
  await both;
  expect(seen).toEqual([height + 1n, height + 2n]);
  const ended = once(stream, "error");
  stream.cancel();
  expect((await ended)[0]).toMatchObject({ code: 1 });
});

it("ends a list with its last message and status OK", async () => {
  await pay();
  const stream = client.makeServerStreamRequest(
    `${LEDGER}/ListCheckpoints`,
    Buffer.from,
    (octets: Buffer) => GrpcTypes.ListCheckpointsResponse.fromBinary(octets),
    GrpcTypes.ListCheckpointsRequest.toBinary({ endCheckpoint: 2n }),
  );
  const seen: (bigint | undefined)[] = [];
  stream.on("data", ({ checkpoint }: GrpcTypes.ListCheckpointsResponse) => {
    seen.push(checkpoint?.sequenceNumber);
  });
  expect((await once(stream, "status"))[0]).toMatchObject({ code: 0 });
  expect(seen).toEqual([0n, 1n, undefined]);
});

it("refuses a stream, cuts one, and breaks a connection, as its faults say", async () => {
  harness.net.faults.set({ noSubscriptions: true });
  expect((await once(subscribe(), "error"))[0]).toMatchObject({ code: 12 });
  harness.net.faults.set({ noSubscriptions: false, cutSubscription: 1 });
  const cut = subscribe().on("data", () => {});
  const ended = once(cut, "error");
  await once(cut, "metadata");
  await pay();
  expect((await ended)[0]).toMatchObject({ code: 13 });
});

it("ends a stream, and a connection that has sent nothing, when it closes", async () => {
  const silent = connectTcp(harness.net.port, "127.0.0.1");
  await once(silent, "connect");
  const gone = once(silent.resume(), "close");
  const stream = subscribe().on("data", () => {});
  const ended = once(stream, "error");
  await once(stream, "metadata");
  await harness.close();
  expect((await ended)[0]).toBeDefined();
  await gone;
});

it("refuses what is not gRPC over HTTP/2, and serves HTTP/1.1 on the same port", async () => {
  const session = connect(harness.net.url);
  const statusOf = async (headers: Record<string, string>) => {
    const stream = session.request(headers);
    stream.end();
    const [head] = await once(stream, "response");
    stream.resume();
    return head[":status"];
  };
  expect(await statusOf({ ":method": "GET", ":path": "/localnet/network" })).toBe(405);
  expect(await statusOf({ ":method": "POST", ":path": "/x", "content-type": "text/plain" })).toBe(415);
  session.close();
  expect((await fetch(`${harness.net.url}/localnet/network`)).status).toBe(200);
});

function checkpoint(sequenceNumber: bigint): Uint8Array {
  return GetCheckpointRequest.toBinary({ checkpointId: { oneofKind: "sequenceNumber", sequenceNumber } });
}
