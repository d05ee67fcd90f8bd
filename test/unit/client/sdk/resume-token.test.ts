import { fromBase58, toBase58 } from "@mysten/sui/utils";
import { sha256 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeResumeToken,
  type ResumePoint,
  readResumeToken,
} from "../../../../src/client/sdk/actions/resume-token.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { ALGORITHM_TRIPLES, CURVES } from "../../../../src/protocol/algorithms.ts";

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const objectId = bytes32.map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const network = fc.constantFrom("localnet" as const, "testnet" as const, "mainnet" as const);
const points: fc.Arbitrary<ResumePoint> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("onboard" as const, "import" as const),
    network,
    curve: fc.constantFrom(...CURVES),
    sessionIdentifier: bytes32,
    senderAddress: maybe(objectId),
    networkEncryptionKeyId: maybe(objectId),
    dwalletId: maybe(objectId),
    name: maybe(
      fc.string({ unit: fc.constantFrom("a", "é", "🗝", " "), maxLength: 127 }).map((rest) => `n${rest}`),
    ),
    userReference: maybe(fc.stringMatching(/^[ -~]{1,128}$/)),
  }),
  fc.record({
    kind: fc.constant("sign" as const),
    network,
    dwalletId: objectId,
    triple: fc.constantFrom(...ALGORITHM_TRIPLES),
    messageDigest: bytes32,
    idempotencyKey: fc.stringMatching(/^[!-~]{1,255}$/),
    signRequestId: maybe(fc.uuid()),
  }),
);
const EXAMPLE: ResumePoint = {
  kind: "sign",
  network: "localnet",
  dwalletId: `0x${"d".repeat(64)}`,
  triple: ALGORITHM_TRIPLES[0]!,
  messageDigest: new Uint8Array(32).fill(7),
  idempotencyKey: "mine",
  signRequestId: undefined,
};
const TOKEN = encodeResumeToken(EXAMPLE);

function refusalOf(token: unknown, of: "localnet" | "testnet" = "localnet"): string {
  try {
    readResumeToken(token as string, of);
  } catch (error) {
    if (error instanceof TssError && error.metadata["field"] === "token")
      return `${error.reason}, ${error.message}`;
    throw error;
  }
  return "read";
}

/** The octets of a token with a valid checksum. */
function sealed(octets: Uint8Array): string {
  return `resume_${toBase58(Uint8Array.from([...octets, ...sha256(octets).slice(0, 4)]))}`;
}
const octetsOf = (token: string) => fromBase58(token.slice("resume_".length)).slice(0, -4);

const MALFORMED = "VALIDATION, token: is not a resume token, or was truncated or changed";

describe("a resume token", () => {
  test("returns its contents, and is short", () => {
    fc.assert(
      fc.property(points, (point) => {
        const token = encodeResumeToken(point);
        expect(token.length).toBeLessThanOrEqual(1_000);
        expect(readResumeToken(token, point.network)).toEqual(point);
      }),
    );
    expect(TOKEN.length).toBeLessThan(140);
  });

  test("that is cut, or has one character changed, is refused as malformed", () => {
    for (let length = 0; length < TOKEN.length; length++)
      expect(refusalOf(TOKEN.slice(0, length))).toBe(MALFORMED);
    for (let at = 0; at < TOKEN.length; at++) {
      const other = TOKEN[at] === "z" ? "y" : "z";
      expect(refusalOf(TOKEN.slice(0, at) + other + TOKEN.slice(at + 1))).toBe(MALFORMED);
    }
  });

  test("with another version is refused with an error that names the version", () => {
    const octets = octetsOf(TOKEN);
    octets[0] = 9;
    expect(refusalOf(sealed(octets))).toBe("VALIDATION, token: is of version 9; this client reads version 1");
  });

  test("for another network is refused with an error that names the network", () => {
    expect(refusalOf(TOKEN, "testnet")).toBe("VALIDATION, token: is of localnet; this client is for testnet");
  });

  test("of any octets is read as ids of the right form, or refused", () => {
    const made = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((body) => Uint8Array.from([1, ...body])),
      fc
        .tuple(points, fc.nat(), fc.nat(255))
        .map(([point, at, byte]) => octetsOf(encodeResumeToken(point)).with((at % 40) + 1, byte)),
    );
    fc.assert(
      fc.property(made, (octets) => {
        const token = sealed(octets);
        const refusal = refusalOf(token);
        if (refusal !== "read") {
          expect(refusal).toMatch(/^VALIDATION, token: /);
          return;
        }
        const point = readResumeToken(token, "localnet");
        if (point.dwalletId !== undefined) expect(point.dwalletId).toMatch(/^0x[0-9a-f]{64}$/);
        if (point.kind === "sign" && point.idempotencyKey !== undefined)
          expect(point.idempotencyKey).toMatch(/^[!-~]{1,255}$/);
        expect(encodeResumeToken(point)).toBe(token);
      }),
      { numRuns: 2_000 },
    );
  });

  test("with an octet after its contents, or with a length in another form, is refused as malformed", () => {
    const octets = octetsOf(TOKEN);
    expect(refusalOf(sealed(octets))).toBe("read");
    expect(refusalOf(sealed(Uint8Array.from([...octets, 0])))).toBe(MALFORMED);
    // 4 in two octets of ULEB128, before the key "mine".
    const key = Buffer.from(octets).indexOf("mine");
    const longer = [...octets.slice(0, key - 1), 0x84, 0, ...octets.slice(key)];
    expect(refusalOf(sealed(Uint8Array.from(longer)))).toBe(MALFORMED);
  });

  test("that is no Base58 is refused as malformed", () => {
    for (const letter of ["0", "O", "I", "l", "-", "é"])
      expect(refusalOf(TOKEN.replace(/.$/, letter))).toBe(MALFORMED);
  });

  test("that is not a text, or too long, is refused before it is decoded", () => {
    for (const token of [undefined, 7, {}, "", "resume_", `resume_${"z".repeat(1_000_000)}`])
      expect(refusalOf(token)).toBe(MALFORMED);
  });
});
