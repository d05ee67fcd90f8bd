import { request as httpRequest } from "node:http";
import { GrpcTypes } from "@mysten/sui/grpc";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeGrpcWebBody, encodeGrpcWebBody } from "../../../../src/localnet/fullnode/wire/grpc-web.ts";
import { type Harness, startHarness } from "../harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const SERVICE = "/sui.rpc.v2.LedgerService/GetServiceInfo";
const SIMULATE = "/sui.rpc.v2.TransactionExecutionService/SimulateTransaction";
const EXECUTE = "/sui.rpc.v2.TransactionExecutionService/ExecuteTransaction";

function frame(payload: Uint8Array, flags = 0): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt8(flags, 0);
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
}

async function call(
  path: string,
  body: Uint8Array,
  contentType = "application/grpc-web+proto",
): Promise<string> {
  const response = await fetch(`${harness.net.url}${path}`, {
    method: "POST",
    headers: { "content-type": contentType },
    body: Uint8Array.from(body),
  });
  const octets = Buffer.from(await response.arrayBuffer());
  const text = contentType.includes("text") ? Buffer.from(octets.toString("latin1"), "base64") : octets;
  return /grpc-status:(\d+)/.exec(text.toString("latin1"))?.[1] ?? `http ${response.status}`;
}

describe("framing", () => {
  test("decodes what it encodes, in both formats", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (payload) => {
        for (const format of ["binary", "text"] as const) {
          const octets = frame(payload);
          const body = format === "text" ? Buffer.from(octets.toString("base64")) : octets;
          expect(Buffer.from(decodeGrpcWebBody(body, format))).toEqual(Buffer.from(payload));
          const reply = encodeGrpcWebBody(payload, { code: 0, message: "" }, format);
          const raw = format === "text" ? Buffer.from(reply.toString("latin1"), "base64") : reply;
          expect(raw.subarray(5, 5 + payload.length)).toEqual(Buffer.from(payload));
        }
      }),
    );
  });

  test("reads a text body of several base64 strings in a row", () => {
    const octets = frame(Buffer.from("hello"));
    const pieces = [octets.subarray(0, 4), octets.subarray(4, 6), octets.subarray(6)];
    const body = Buffer.from(pieces.map((piece) => piece.toString("base64")).join(""));
    expect(Buffer.from(decodeGrpcWebBody(body, "text")).toString()).toBe("hello");
  });
});

describe("the node answers with a status, and continues to run, after", () => {
  test("no frame, a short frame, a long frame, two frames, compression, an unknown flag", async () => {
    const message = frame(new Uint8Array());
    expect(await call(SERVICE, new Uint8Array())).toBe("3");
    expect(await call(SERVICE, message.subarray(0, 4))).toBe("3");
    expect(await call(SERVICE, Buffer.concat([message, Buffer.from([1])]))).toBe("3");
    expect(await call(SERVICE, Buffer.concat([message, message]))).toBe("3");
    expect(await call(SERVICE, frame(new Uint8Array(), 1))).toBe("12");
    expect(await call(SERVICE, frame(new Uint8Array(), 2))).toBe("3");
    expect(await call(SERVICE, Buffer.from("%%%"), "application/grpc-web-text")).toBe("3");
  });

  test("unknown methods, foreign content types, too large bodies", async () => {
    expect(await call("/sui.rpc.v2.LedgerService/Nothing", frame(new Uint8Array()))).toBe("12");
    expect(await call("/sui.rpc.v2.NameService/LookupName", frame(new Uint8Array()))).toBe("12");
    expect(await call(SERVICE, frame(new Uint8Array()), "application/json")).toBe("http 415");
    expect(await call(SERVICE, frame(new Uint8Array(1024 * 1024)))).toBe("8");
    expect((await fetch(`${harness.net.url}/nothing`)).status).toBe(404);
  });

  test("any bytes at all as a message", async () => {
    const paths = [SERVICE, SIMULATE, EXECUTE, "/sui.rpc.v2.StateService/ListOwnedObjects"];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.uint8Array({ maxLength: 200 }),
        async (path, payload) => {
          expect(["0", "3", "5"]).toContain(await call(path, frame(payload)));
        },
      ),
      { numRuns: 150 },
    );
  });

  test("any truncated or altered transaction", async () => {
    const sender = `0x${"1".repeat(64)}`;
    const simulate = GrpcTypes.SimulateTransactionRequest.toBinary(
      GrpcTypes.SimulateTransactionRequest.create({
        transaction: {
          sender,
          kind: {
            data: {
              oneofKind: "programmableTransaction",
              programmableTransaction: {
                inputs: [{ objectId: sender }, { pure: new Uint8Array(4) }],
                commands: [
                  {
                    command: {
                      oneofKind: "splitCoins",
                      splitCoins: { coin: { kind: 1 }, amounts: [{ kind: 2, input: 9 }] },
                    },
                  },
                  {
                    command: {
                      oneofKind: "moveCall",
                      moveCall: { package: "0x2", arguments: [], typeArguments: ["x"] },
                    },
                  },
                ],
              },
            },
          },
        },
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(simulate.length), fc.nat(255), fc.boolean(), async (at, value, cut) => {
        const altered = cut
          ? simulate.slice(0, at)
          : Uint8Array.from(simulate, (byte, i) => (i === at ? value : byte));
        expect(["0", "3", "5"]).toContain(await call(SIMULATE, frame(altered)));
      }),
      { numRuns: 200 },
    );
  });

  test("malformed ids, digests, masks and page tokens", async () => {
    const { client } = harness;
    await expect(client.getObject({ objectId: "0xzz" })).rejects.toBeDefined();
    await expect(client.ledgerService.getObject({ objectId: "not an id" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await expect(client.ledgerService.getTransaction({ digest: "" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await expect(client.ledgerService.getTransaction({ digest: "unknown" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    const owner = harness.net.hotWalletAddress;
    const badToken = client.stateService.listOwnedObjects({ owner, pageToken: Uint8Array.of(0xff, 0xfe) });
    await expect(badToken).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(client.stateService.listOwnedObjects({ owner, objectType: "<<" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    const { response } = await client.ledgerService.batchGetObjects({
      requests: [{ objectId: "bad" }, { objectId: owner }],
    });
    expect(response.objects.map((item) => item.result.oneofKind)).toEqual(["error", "error"]);
  });
});

test("a browser of any origin may call it", async () => {
  const preflight = await fetch(`${harness.net.url}${SERVICE}`, {
    method: "OPTIONS",
    headers: { origin: "https://app.example", "access-control-request-headers": "x-grpc-web,content-type" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  expect(preflight.headers.get("access-control-allow-headers")).toBe("x-grpc-web,content-type");
});

test("lists come in pages without loss or repetition, and coins from the richest", async () => {
  const owner = harness.net.hotWalletAddress;
  await harness.run((tx) => tx.transferObjects([...tx.splitCoins(tx.gas, [3, 1, 2])], owner));
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof harness.client.listOwnedObjects>> =
      await harness.client.listOwnedObjects({
        owner,
        limit: 4,
        cursor,
      });
    seen.push(...page.objects.map((object) => object.objectId));
    cursor = page.cursor;
  } while (cursor !== null);
  const all = await harness.client.listOwnedObjects({ owner, limit: 1_000 });
  expect(seen).toEqual(all.objects.map((object) => object.objectId));
  expect(new Set(seen).size).toBe(seen.length);
  const coins = (await harness.client.listCoins({ owner })).objects.map((coin) => BigInt(coin.balance));
  expect(coins).toEqual([...coins].sort((a, b) => (a > b ? -1 : 1)));
});

test("a node that closes answers the call under way and then refuses", async () => {
  const other = await startHarness();
  const { port } = new URL(other.net.url);
  const pending = new Promise<number | undefined>((resolve, reject) => {
    const request = httpRequest({
      port,
      method: "POST",
      path: SERVICE,
      headers: { "content-type": "application/grpc-web+proto" },
    });
    request.on("response", (response) => resolve(response.resume().statusCode));
    request.on("error", reject);
    request.write(Buffer.alloc(2), () => {
      const closed = other.close();
      request.end(Buffer.alloc(3));
      closed.catch(reject);
    });
  });
  expect(await pending).toBe(200);
  await expect(fetch(`${other.net.url}/v2/gas`)).rejects.toBeDefined();
});
