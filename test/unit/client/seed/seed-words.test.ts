import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Mnemonic } from "ethers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seedFromWords, seedToWords } from "../../../../src/client/seed/words/index.ts";

/** The vectors of BIP-39 with 32 bytes of entropy (github.com/trezor/python-mnemonic/blob/master/vectors.json). */
const VECTORS = [
  ["00".repeat(32), `${"abandon ".repeat(23)}art`],
  [
    "7f".repeat(32),
    "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth title",
  ],
  [
    "80".repeat(32),
    "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless",
  ],
  ["ff".repeat(32), `${"zoo ".repeat(23)}vote`],
  [
    "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c",
    "hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length",
  ],
  [
    "9f6a2878b2520799a44ef18bc7df394e7061a224d2c33cd015b157d746869863",
    "panda eyebrow bullet gorilla call smoke muffin taste mesh discover soft ostrich alcohol speed nation flash devote level hobby quick inner drive ghost inside",
  ],
  [
    "066dca1a2bb7e8a1db2832148ce9933eea0f3ac9548d793112d9a95c9407efad",
    "all hour make first leader extend hole alien behind guard gospel lava path output census museum junior mass reopen famous sing advance salt reform",
  ],
  [
    "f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f",
    "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group space point ten exist slush involve unfold",
  ],
] as const;
const [, [, WORDS]] = VECTORS;

describe("the words of a seed", () => {
  test.each(VECTORS)("%s are those of the vector, and give the seed back", (hex, words) => {
    expect(seedToWords(hexToBytes(hex))).toBe(words);
    expect(bytesToHex(seedFromWords(words))).toBe(hex);
  });

  test("are those that another library writes, for any seed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        const words = seedToWords(seed);
        expect(words).toBe(Mnemonic.entropyToPhrase(seed));
        expect(seedFromWords(words)).toEqual(seed);
      }),
    );
  });

  test.each([
    ["upper case", WORDS.toUpperCase()],
    ["lines and tabs", `\n ${WORDS.replaceAll(" ", "\n\t")}  `],
    ["wide spaces", WORDS.replaceAll(" ", "\u3000\u00a0")],
    ["full-width letters", WORDS.replaceAll("legal", "\uff4c\uff45\uff47\uff41\uff4c")],
  ])("may be typed with %s", (_, typed) => {
    expect(bytesToHex(seedFromWords(typed))).toBe("7f".repeat(32));
  });
});

describe("wrong words", () => {
  const failureFor = (words: string): { message: string } => {
    try {
      seedFromWords(words);
    } catch (error) {
      return error as { message: string };
    }
    throw new Error("the words were read");
  };
  const withWord = (place: number, word: string) =>
    WORDS.split(" ")
      .with(place - 1, word)
      .join(" ");

  test.each([
    ["none", "", "must be 24 words, not 0"],
    ["one too few", WORDS.replace("legal ", ""), "must be 24 words, not 23"],
    ["one too many", `${WORDS} legal`, "must be 24 words, not 25"],
    ["no text", 7 as never, "must be a text of 24 words"],
  ])("are counted: %s", (_, words, message) => {
    expect(failureFor(words)).toMatchObject({
      reason: "VALIDATION",
      message: `words: ${message}`,
      metadata: { field: "words", problem: "count" },
    });
  });

  test.each([1, 13, 24])("are refused with the place of the first unknown one: %i", (place) => {
    const words = withWord(place, "legall").replace(/\w+$/, "titel");
    const { message, ...error } = failureFor(words);
    expect(message).toBe(`words: word ${place} is not in the list`);
    expect(error).toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "words", problem: "word", wordNumber: String(place) },
    });
  });

  test.each([
    ["one known word for another", withWord(5, "zoo")],
    ["two that have changed places", WORDS.replace("legal winner", "winner legal")],
  ])("are refused by the checksum: %s", (_, words) => {
    expect(failureFor(words)).toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "words", problem: "checksum" },
    });
  });

  test("are in no error", () => {
    const texts = [withWord(3, "sekret"), withWord(5, "zoo"), WORDS.replace("legal ", "")].map((words) => {
      const error = failureFor(words) as Error;
      return `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
    });
    const typed = [...WORDS.split(" "), "sekret", "zoo"];
    expect(typed.filter((word) => texts.some((text) => new RegExp(`\\b${word}\\b`).test(text)))).toEqual([]);
  });
});

test("a seed of 31 bytes has no words", () => {
  expect(() => seedToWords(new Uint8Array(31))).toThrow("seed: must be 32 bytes, not 31");
});
