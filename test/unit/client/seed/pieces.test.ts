/** The text of pieces, and what joins to a seed. Another program in another language wrote the vectors. */
import { readFileSync } from "node:fs";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { bech32m } from "@scure/base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { signerAddressOf } from "../../../../src/client/crypto/user-keys.ts";
import { joinPieces, readPiece } from "../../../../src/client/seed/pieces/index.ts";
import { decodePiece, encodePiece } from "../../../../src/client/seed/pieces/piece-text.ts";
import { splitSeed } from "../../../../src/client/seed/pieces/split-seed.ts";

const vectors = JSON.parse(readFileSync(new URL("./pieces.vectors.json", import.meta.url), "utf8")) as {
  curve: "SECP256K1" | "SECP256R1" | "ED25519" | "RISTRETTO";
  dwalletId: string;
  holderAddress: string;
  threshold: number;
  count: number;
  splitId: string;
  seedHex: string;
  pieces: string[];
}[];
const [{ pieces: TWO_OF_THREE, seedHex: SEED_HEX }, { pieces: THREE_OF_FIVE }] = vectors as [
  (typeof vectors)[0],
  (typeof vectors)[0],
];
const curve = "ED25519";
const dwalletId = `0x${"d".repeat(64)}`;

/** All selections of so many items. */
function selections<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, at) =>
    selections(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]),
  );
}

/** The pieces of a seed. */
async function piecesOf(seed: Uint8Array, threshold: number, count: number): Promise<string[]> {
  const holderAddress = signerAddressOf(seed, curve);
  return await splitSeed(seed, { dwalletId, curve, holderAddress, threshold, count });
}

const failureOf = (texts: readonly string[]) =>
  joinPieces(texts).then(
    () => {
      throw new Error("the pieces were joined");
    },
    (error: Error & { readonly metadata: Record<string, string> }) => error,
  );

describe.each(vectors)("the vector on $curve", ({ seedHex, pieces, ...facts }) => {
  test("joins to its seed", async () => {
    const joined = await joinPieces(pieces.slice(0, facts.threshold));
    const { dwalletId: id, holderAddress } = facts;
    const seed = hexToBytes(seedHex);
    expect(joined).toEqual({ seed, dwalletId: id, curve: facts.curve, holderAddress, rejected: [] });
  });

  test("says what each piece is for, and is written the same again", () => {
    for (const [at, text] of pieces.entries()) {
      expect(readPiece(text)).toEqual({ ...facts, index: at + 1 });
      expect(encodePiece(decodePiece(text))).toBe(text);
    }
  });
});

describe("pieces", () => {
  const splits = [2, 3, 4, 5].flatMap((count) =>
    [2, 3, 4, 5].filter((threshold) => threshold <= count).map((threshold) => [threshold, count] as const),
  );
  test.each([...splits, [16, 16] as const])(
    "give the seed for each selection of %i of %i, in any order, and fewer give an error",
    async (threshold, count) => {
      const seed = crypto.getRandomValues(new Uint8Array(32));
      const pieces = await piecesOf(seed, threshold, count);
      for (const some of selections(pieces, threshold))
        expect((await joinPieces(some.toReversed())).seed).toEqual(seed);
      expect((await joinPieces(pieces)).seed).toEqual(seed);
      for (const few of selections(pieces, threshold - 1))
        expect(await failureOf(few)).toMatchObject({
          reason: "VALIDATION",
          metadata: { field: "pieces", problem: "count" },
        });
    },
  );

  test("too few give no seed either if they claim to be enough", async () => {
    const claiming = THREE_OF_FIVE.map((text) => encodePiece({ ...decodePiece(text), threshold: 2 }));
    expect((await joinPieces(THREE_OF_FIVE.slice(1, 4))).seed).toHaveLength(32);
    for (const few of selections(claiming, 2))
      expect(await failureOf(few)).toMatchObject({ reason: "VALIDATION", metadata: { problem: "wrong" } });
  });

  test("are other texts at each split, and leave the caller's seed as it was", async () => {
    const seed = hexToBytes(SEED_HEX);
    const first = await piecesOf(seed, 2, 3);
    const second = await piecesOf(seed, 2, 3);
    expect(new Set([...first, ...second]).size).toBe(6);
    expect(bytesToHex(seed)).toBe(SEED_HEX);
  });

  test("are not returned if they do not give the seed of the address that they name", async () => {
    const seed = new Uint8Array(32).fill(9);
    const holderAddress = signerAddressOf(hexToBytes(SEED_HEX), curve);
    const facts = { dwalletId, curve, holderAddress, threshold: 2, count: 2 } as const;
    await expect(splitSeed(seed, facts)).rejects.toMatchObject({ metadata: { problem: "wrong" } });
  });

  test.each([
    ["upper case", (text: string) => text.toUpperCase()],
    ["lines and hyphens", (text: string) => ` ${text.replace(/.{4}/g, "$&-").replace(/.{30}/g, "$&\n")}`],
  ])("may be typed with %s", async (_, typed) => {
    const { seed } = await joinPieces(TWO_OF_THREE.slice(1).map(typed));
    expect(bytesToHex(seed)).toBe(SEED_HEX);
  });
});

describe("more pieces than the threshold", () => {
  const [first, second, third] = TWO_OF_THREE as [string, string, string];
  const wrong = Uint8Array.from([...new Uint8Array(32), 7]);
  const foreign = encodePiece({ ...decodePiece(second), dwalletId });

  test.each<[string, string, string, string]>([
    ["damaged", `${second.slice(0, -1)}q`, "checksum", "is damaged"],
    ["no piece", "abandon abandon", "form", "must be a text that begins with tsspiece1"],
    ["another recovery's", foreign, "mixed", "is for another dWallet"],
    [
      "another split's",
      encodePiece({ ...decodePiece(second), splitId: "00".repeat(8) }),
      "mixed",
      "belongs to another",
    ],
    [
      "a changed one",
      encodePiece({ ...decodePiece(second), share: wrong }),
      "wrong",
      "does not fit the others",
    ],
    [
      "one under the number of a good one",
      encodePiece({ ...decodePiece(first), share: wrong }),
      "wrong",
      "does not fit the others",
    ],
    ["a repeated one", third, "duplicate", "is the same as piece"],
  ])("give the seed although one is %s, wherever it is, and name it", async (_, bad, problem, message) => {
    const places = problem === "duplicate" ? [3] : [1, 2, 3];
    for (const place of places) {
      const texts = [first, third].toSpliced(place - 1, 0, bad);
      const { seed, rejected } = await joinPieces(texts);
      expect(bytesToHex(seed)).toBe(SEED_HEX);
      expect(rejected).toEqual([
        { pieceNumber: place, problem, message: expect.stringContaining(`piece ${place} ${message}`) },
      ]);
      expect(rejected[0]?.message).not.toContain(bad.slice(10));
    }
  });

  test("give the seed while enough of them are good, whichever are changed", async () => {
    const seed = crypto.getRandomValues(new Uint8Array(32));
    const pieces = await piecesOf(seed, 3, 6);
    for (const bad of selections([0, 1, 2, 3, 4, 5], 3)) {
      const texts = pieces.map((text, at) => {
        const piece = decodePiece(text);
        return bad.includes(at) ? encodePiece({ ...piece, share: piece.share.with(at, 1) }) : text;
      });
      const changed = bad.filter((at) => texts[at] !== pieces[at]);
      const { seed: joined, rejected } = await joinPieces(texts);
      expect(joined).toEqual(seed);
      expect(rejected.map(({ pieceNumber }) => pieceNumber - 1)).toEqual(changed);
    }
  });

  test("are refused if too few of them are good, and the error names the first bad one", async () => {
    expect(await failureOf([foreign, first])).toMatchObject({ metadata: { pieceNumber: "2" } });
    const three = THREE_OF_FIVE.slice(0, 2);
    expect(await failureOf([foreign, ...three])).toMatchObject({
      message: "pieces: piece 1 is for another dWallet than piece 2",
      metadata: { problem: "mixed", pieceNumber: "1" },
    });
    const changed = encodePiece({ ...decodePiece(first), share: wrong });
    const also = encodePiece({ ...decodePiece(second), share: wrong.with(3, 9) });
    expect(await failureOf([changed, also, third])).toMatchObject({
      message: expect.stringContaining("no selection of them gives the recovery's seed"),
      metadata: { problem: "wrong" },
    });
  });

  test("of two recoveries are refused if both have enough: only the caller knows which one it wants", async () => {
    const other = await piecesOf(new Uint8Array(32).fill(8), 2, 2);
    expect(await failureOf([...TWO_OF_THREE, ...other])).toMatchObject({
      message: expect.stringContaining("both have enough pieces"),
      metadata: { problem: "mixed", pieceNumber: "4" },
    });
  });
});

describe("pieces of a recovery that the caller expects", () => {
  const [{ dwalletId: own, holderAddress }] = vectors as [(typeof vectors)[0]];
  const otherSeed = new Uint8Array(32).fill(8);

  test("are taken from among the pieces of another one, which are named", async () => {
    const others = await piecesOf(otherSeed, 2, 2);
    for (const expected of [{ dwalletId: own }, { holderAddress }, { dwalletId: own, holderAddress }]) {
      const joined = await joinPieces([...others, ...TWO_OF_THREE], expected);
      expect(bytesToHex(joined.seed)).toBe(SEED_HEX);
      expect(joined.rejected.map(({ pieceNumber, problem }) => [pieceNumber, problem])).toEqual([
        [1, "unexpected"],
        [2, "unexpected"],
      ]);
    }
  });

  test("do not give the seed of another one, however many of its pieces there are", async () => {
    const others = await piecesOf(otherSeed, 2, 3);
    const refused = joinPieces(others, { dwalletId: own });
    await expect(refused).rejects.toMatchObject({
      message: `pieces: piece 1 is for the dWallet ${dwalletId}, which is not the expected one`,
      metadata: { problem: "unexpected", pieceNumber: "1" },
    });
    await expect(joinPieces(TWO_OF_THREE, { holderAddress: dwalletId })).rejects.toMatchObject({
      message: expect.stringContaining(`piece 1 is of the recovery of ${holderAddress}`),
    });
  });

  test.each(["dwalletId", "holderAddress"])("a wrong %s is refused by its name", async (field) => {
    await expect(joinPieces(TWO_OF_THREE, { [field]: "0x12" })).rejects.toMatchObject({
      reason: "VALIDATION",
      message: expect.stringContaining(`expected.${field}`),
    });
  });
});

describe("wrong pieces", () => {
  const [first, second, third] = TWO_OF_THREE as [string, string, string];
  const changed = (change: Partial<ReturnType<typeof decodePiece>>) =>
    encodePiece({ ...decodePiece(second), ...change });

  test.each<[string, readonly unknown[], string, string]>([
    ["none", [], "count", "must be several texts, not none"],
    ["no list", "tsspiece1" as never, "count", "must be a list of texts"],
    ["more than there can be", Array(17).fill(first), "count", "must be at most 16, not 17"],
    ["one of two", [third], "count", "2 are needed, and these are 1"],
    ["one twice", [third, third], "duplicate", "piece 2 is the same as piece 1"],
    [
      "something else",
      [first, "abandon abandon"],
      "form",
      "piece 2 must be a text that begins with tsspiece1",
    ],
    ["no text", [7], "form", "piece 1 must be a text that begins with tsspiece1"],
    ["an endless text", [`tsspiece1${"q".repeat(1_000_000)}`], "form", "piece 1 must be a text that begins"],
    ["a cut one", [first, second.slice(0, -1)], "checksum", "piece 2 is damaged: a character is wrong"],
    [
      "a later version",
      [changedByte(0, 2)],
      "version",
      "piece 1 is of a version that this client does not know",
    ],
    ["an unknown curve", [changedByte(1, 4)], "form", "piece 1 is not a piece that this client made"],
    ["a threshold of 1", [changedByte(2, 1)], "form", "piece 1 is not a piece that this client made"],
    ["a threshold above the count", [changedByte(2, 4)], "form", "is not a piece that this client made"],
    ["too many", [changedByte(3, 17)], "form", "is not a piece that this client made"],
    ["the number 0", [changedByte(4, 0)], "form", "is not a piece that this client made"],
    ["a number above the count", [changedByte(4, 4)], "form", "is not a piece that this client made"],
    ["the place of the seed", [changedByte(109, 0)], "form", "is not a piece that this client made"],
    [
      "another dWallet's",
      [first, changed({ dwalletId })],
      "mixed",
      "piece 2 is for another dWallet than piece 1",
    ],
    [
      "another split's",
      [first, changed({ splitId: "00".repeat(8) })],
      "mixed",
      "piece 2 belongs to another recovery",
    ],
    [
      "another holder's",
      [first, changed({ holderAddress: dwalletId })],
      "mixed",
      "piece 2 belongs to another",
    ],
    ["another curve's", [first, changed({ curve })], "mixed", "piece 2 belongs to another"],
    ["another threshold's", [first, changed({ threshold: 3 })], "mixed", "piece 2 belongs to another"],
    ["one under another number", [second, changed({ index: 1 })], "wrong", "they give another seed"],
    [
      "one with another secret",
      [first, changed({ share: Uint8Array.from([...new Uint8Array(32), 7]) })],
      "wrong",
      "they give another seed than the recovery's: one of them was changed",
    ],
  ])("are refused in words: %s", async (_, texts, problem, message) => {
    const { message: said, ...error } = await failureOf(texts as string[]);
    expect(said).toMatch(/^pieces: /);
    expect(said).toContain(message);
    expect(error).toMatchObject({ reason: "VALIDATION", metadata: { field: "pieces", problem } });
  });

  test("are told from good ones wherever one character was mistyped", async () => {
    for (let at = 0; at < first.length; at++) {
      const typed = first.slice(0, at) + (first[at] === "q" ? "p" : "q") + first.slice(at + 1);
      expect((await failureOf([typed, second])).metadata).toMatchObject({
        problem: at < "tsspiece1".length ? "form" : "checksum",
        pieceNumber: "1",
      });
    }
  });

  test("are in no error", async () => {
    const damaged = `${first.slice(0, 90)}${first[90] === "q" ? "p" : "q"}${first.slice(91)}`;
    const failures = [[damaged, second], [first], [first, first], [first, changed({ threshold: 3 })]];
    const texts = (await Promise.all(failures.map(failureOf))).map(
      (error) => `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`,
    );
    const secrets = [first, second].map((text) => text.slice(130, 160));
    expect(texts.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
  });

  test("never give a seed, and never an error without a reason, whatever they contain", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 300 }), { maxLength: 20 }), async (texts) => {
        expect(await failureOf(texts)).toMatchObject({ reason: "VALIDATION" });
      }),
    );
  });

  /** The first piece with another byte and a right checksum. */
  function changedByte(at: number, value: number): string {
    const { prefix, words } = bech32m.decode(first as `${string}1${string}`, false);
    const bytes = bech32m.fromWords(words).with(at, value);
    return bech32m.encode(prefix, bech32m.toWords(bytes), false);
  }
});
