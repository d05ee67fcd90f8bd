/** Checkpoints of a localnet, read as the service reads them. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { GrpcTypes, GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bindAnswers } from "../../../../src/protocol/chain/bind-answers.ts";
import {
  type CheckpointGains,
  CheckpointsNotServedError,
  createCheckpointReader,
} from "../../../../src/service/chain/checkpoint-reader.ts";
import { createBackOffs } from "../../../../src/service/chain/fullnodes/back-off.ts";
import { boundMessages } from "../../../../src/service/chain/fullnodes/bound-messages.ts";
import { fetchFullnode } from "../../../../src/service/chain/fullnodes/network-fetch.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { acceptedCoin, fundedPayer, type Payer, SUI } from "../../../support/database/deposits.ts";
import { type Harness, startHarness } from "../../localnet/harness.ts";

let harness: Harness;
let payer: Payer;
let ika: string;
beforeEach(async () => {
  harness = await startHarness();
  ika = acceptedCoin("IKA", harness.net.ikaCoinType).coinType;
  payer = await fundedPayer(harness.client, harness.net.url, ika);
});
afterEach(() => harness.close());

const readerOf = (url: string, coinTypes: readonly string[]) => {
  const transport = new GrpcWebFetchTransport({
    baseUrl: url,
    format: "binary",
    fetch: boundMessages(fetchFullnode, 1_000_000),
  });
  const client = new SuiGrpcClient({ network: "localnet", transport: bindAnswers(transport) });
  const times = { readMs: 5_000, buildMs: 5_000, executeMs: 5_000 };
  const network = { client, backOff: createBackOffs(systemClock).work, times, clock: systemClock };
  return createCheckpointReader(network, coinTypes);
};

/** Subscribes, and waits until the fullnode has accepted. */
async function follow(reader: ReturnType<typeof readerOf>) {
  const closing = new AbortController();
  let first: Promise<IteratorResult<CheckpointGains>> | undefined;
  const stream = await new Promise<AsyncIterator<CheckpointGains>>((resolve, reject) => {
    const opened = reader.subscribe(closing.signal, () => resolve(opened))[Symbol.asyncIterator]();
    first = opened.next();
    first.catch(reject);
  });
  const next = async (): Promise<CheckpointGains> => {
    const result = await (first ?? stream.next());
    first = undefined;
    return result.value;
  };
  return { next, close: () => closing.abort() };
}

describe.each(["http:", "grpc:"])("a stream of checkpoints from %s", (protocol) => {
  const localnetUrl = () => harness.net.url.replace("http:", protocol);

  it("names the addresses that gained accepted coins, and so does a read of one checkpoint", async () => {
    const reader = readerOf(localnetUrl(), [SUI.coinType]);
    const stream = await follow(reader);
    const latest = await reader.latest();
    const [first, second] = [Ed25519Keypair.generate(), Ed25519Keypair.generate()];
    await payer.pay(first.toSuiAddress(), { sui: 5n, ika: 0n });
    await payer.pay(second.toSuiAddress(), { sui: 0n, ika: 5n });
    const paid = await stream.next();
    expect(paid).toEqual({ sequence: latest + 1n, addresses: [first.toSuiAddress()] });
    expect(await stream.next()).toEqual({ sequence: latest + 2n, addresses: [] });
    expect(await reader.read(latest + 1n)).toEqual(paid);
    expect(await readerOf(localnetUrl(), [ika]).read(latest + 2n)).toEqual({
      sequence: latest + 2n,
      addresses: [second.toSuiAddress()],
    });
    expect(await reader.read(latest + 3n)).toBeUndefined();
    stream.close();
    await expect(stream.next()).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("is refused by a fullnode that serves none", async () => {
    harness.net.faults.set({ noSubscriptions: true });
    const stream = await follow(readerOf(localnetUrl(), [SUI.coinType]));
    await expect(stream.next()).rejects.toThrow(CheckpointsNotServedError);
  });
});

describe("a fullnode that lies", () => {
  let server: Server;
  let body: Buffer;
  beforeEach(async () => {
    server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/grpc-web+proto" });
      response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const lyingReader = () =>
    readerOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, [SUI.coinType]);

  const framed = (message: Uint8Array, flags = 0) => {
    const header = Buffer.alloc(5);
    header.writeUInt8(flags);
    header.writeUInt32BE(message.length, 1);
    return Buffer.concat([header, message]);
  };
  const messageOf = (checkpoint: GrpcTypes.Checkpoint, cursor: bigint) =>
    framed(GrpcTypes.SubscribeCheckpointsResponse.toBinary({ cursor, checkpoint }));
  const change = (address?: string, coinType?: string, amount?: string) => ({
    ...(address === undefined ? {} : { address }),
    ...(coinType === undefined ? {} : { coinType }),
    ...(amount === undefined ? {} : { amount }),
  });

  it("names no address with malformed changes, and every valid one between them", async () => {
    const address = Ed25519Keypair.generate().toSuiAddress();
    const balanceChanges = [
      change(),
      change(address),
      change("not an address", "0x2::sui::SUI", "5"),
      change("0x'; DROP TABLE project", "0x2::sui::SUI", "5"),
      change(address, "::sui::SUI", "5"),
      change(address, "0x2::sui::SUI", "-5"),
      change(address, "0x2::sui::SUI", "0"),
      change(address, "0x3::sui::SUI", "5"),
      change("0xA", "0x2::sui::SUI", "5"),
      change(address, "0x02::sui::SUI", "5"),
    ];
    body = messageOf({ transactions: [{ signatures: [], balanceChanges }] }, 7n);
    const stream = await follow(lyingReader());
    expect(await stream.next()).toEqual({
      sequence: 7n,
      addresses: [`0x${"a".padStart(64, "0")}`, address],
    });
    await expect(stream.next()).rejects.toThrow();
  });

  it("ends the stream with a number that no chain reaches, and with an endless message", async () => {
    body = messageOf({ transactions: [] }, 2n ** 63n);
    await expect((await follow(lyingReader())).next()).rejects.toThrow("9223372036854775808");
    body = Buffer.from([0, 255, 255, 255, 255, 1, 2, 3]);
    await expect((await follow(lyingReader())).next()).rejects.toThrow("the limit is 1000000");
  });

  it("is caught if it answers with another checkpoint", async () => {
    const response = GrpcTypes.GetCheckpointResponse.toBinary({
      checkpoint: { sequenceNumber: 8n, transactions: [] },
    });
    body = Buffer.concat([framed(response), framed(Buffer.from("grpc-status:0\r\n"), 0x80)]);
    expect(await lyingReader().read(8n)).toEqual({ sequence: 8n, addresses: [] });
    await expect(lyingReader().read(7n)).rejects.toMatchObject({ reason: "CHAIN_UNAVAILABLE" });
  });
});
