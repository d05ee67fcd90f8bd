/** How the Treasury's commands parse their command lines, without a network. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { MultiSigPublicKey } from "@mysten/sui/multisig";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../../../src/cli/command-line/parse-command-line.ts";
import { TREASURY_SUBCOMMANDS } from "../../../../src/cli/treasury/treasury-subcommands.ts";
import { runCli } from "../../../component/cli/run-cli.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
type Verb = keyof typeof TREASURY_SUBCOMMANDS;
const parse = (verb: Verb, ...words: readonly string[]): Record<string, unknown> =>
  parseCommandLine(words, TREASURY_SUBCOMMANDS[verb].options);

describe("amounts", () => {
  it("are coins with nine decimals, exactly", () => {
    const ika = (text: string) => parse("fund", "--ika", text)["ika"];
    expect([ika("12.5"), ika("0.000000001"), ika("9007199254.740993"), ika("0")]).toEqual([
      ...[12_500_000_000n, 1n, 9_007_199_254_740_993_000n, 0n],
    ]);
  });

  it.each(["1,5", "-1", "1e9", "0.0000000001", "", "1.", "18446744074", "99999999999"])(
    "are refused if they are malformed or beyond what the chain holds: %j",
    (text) => {
      expect(() => parse("fund", `--ika=${text}`)).toThrow(/^--ika takes an amount/);
    },
  );
});

describe("operations", () => {
  it("have the names of their curve and algorithm", () => {
    const of = (text: string) => parse("set-ceiling", "--of", text)["of"];
    expect(of("dkg:ED25519")).toEqual({ operation: "dkg", curve: 2, signatureAlgorithm: 0 });
    expect(of("import:SECP256K1")).toEqual({ operation: "import", curve: 0, signatureAlgorithm: 0 });
    expect(of("share:ED25519")).toEqual({ operation: "share", curve: 2, signatureAlgorithm: 0 });
    expect(of("sign:SECP256K1/Taproot")).toEqual({ operation: "sign", curve: 0, signatureAlgorithm: 1 });
    expect(of("presign:RISTRETTO/Schnorrkel")).toEqual({
      operation: "presign",
      curve: 3,
      signatureAlgorithm: 0,
    });
  });

  it.each([
    "dkg",
    "dkg:SECP256K1/Taproot",
    "share:ED25519/EdDSA",
    "import:ED25519/EdDSA",
    "sign:SECP256K1",
    "sign:ED25519/Taproot",
    "burn:ED25519",
    ":",
  ])("are refused if none has that name: %j", (text) => {
    expect(() => parse("set-ceiling", "--of", text)).toThrow("--of takes dkg:CURVE");
  });
});

describe("addresses and ids", () => {
  it("get their long form, and `nobody` is the zero address", () => {
    const parsed = parse("set-roles", "--pauser", "0x7", "--recovery", "nobody");
    expect(parsed).toMatchObject({ pauser: `0x${"7".padStart(64, "0")}`, recovery: id("0") });
  });

  it("of several objects must be distinct, and at most a hundred", () => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, i) => `0x${String(i).padStart(64, "0")}`);
    const move = (ids: readonly string[]) => parse("move", "--dwallets", ids.join(","));
    expect(move(list(100))["dwallets"]).toHaveLength(100);
    expect(() => move(list(101))).toThrow("at most 100");
    expect(() => move([id("1"), id("1")])).toThrow("each id once");
    expect(() => move(["0x1"])).toThrow("object id");
  });
});

describe("a command line is refused before anything is read", () => {
  const refused = async (...words: readonly string[]) => {
    const { exitCode, err } = await runCli(["treasury", ...words], { LOCALNET_URL: "http://127.0.0.1:1" });
    expect(exitCode).toBe(2);
    return err;
  };

  it("if a multisig is incomplete, or has an invalid key", async () => {
    const [one, two] = [new Ed25519Keypair(), new Secp256k1Keypair()].map((key) =>
      key.getPublicKey().toSuiPublicKey(),
    ) as [string, string];
    expect(await refused("multisig")).toContain("--public-keys is missing");
    expect(await refused("multisig", "--public-keys", one)).toContain("needs --public-keys and --threshold");
    const both = ["multisig", "--public-keys", `${one},${two}`, "--threshold", "2"];
    expect(await refused(...both, "--weights", "1")).toContain("one number for each public key");
    expect(await refused("multisig", "--public-keys", `${one},${one}`, "--threshold", "2")).toContain(
      "--public-keys",
    );
    expect(await refused("multisig", "--public-keys", "AAAA", "--threshold", "1")).toContain("base64");
    expect(await refused("multisig", "--public-keys", one, "--threshold", "2")).toContain("--public-keys");
    const weighted = await runCli(["treasury", ...both, "--weights", "2,1"]);
    const expected = MultiSigPublicKey.fromPublicKeys({
      threshold: 2,
      publicKeys: [
        { publicKey: new MultiSigPublicKey(keysOf(one, two)).getPublicKeys()[0]!.publicKey, weight: 2 },
        { publicKey: new MultiSigPublicKey(keysOf(one, two)).getPublicKeys()[1]!.publicKey, weight: 1 },
      ],
    });
    expect(weighted.out).toContain(expected.toSuiAddress());
  });

  it("if it does not say how to sign, or says it in two ways", async () => {
    expect(await refused("unpause")).toContain("--key-file, --unsigned or --dry-run is missing");
    expect(await refused("publish")).toContain("--key-file, --unsigned or --dry-run is missing");
    const file = ["unpause", "--key-file", "x"];
    expect(await refused(...file, "--unsigned", "y")).toContain("exclude each other");
    expect(await refused(...file, "--sender", "0x7")).toContain("the key determines the sender");
  });

  it("if no Treasury is known on a public network", async () => {
    expect(await refused("status", "--network", "mainnet")).toContain(
      "no Treasury is configured for mainnet: set --treasury or SERVICECORE_MAINNET_TREASURY_ID",
    );
  });

  it("if signatures are not in base64", async () => {
    expect(await refused("submit", "--bytes", "x", "--signature", "no signature")).toContain("in base64");
  });
});

/** A multisig in the SDK's own form, from keys with Sui's flag. */
function keysOf(ed25519: string, secp256k1: string) {
  const raw = (key: string) => Uint8Array.from(Buffer.from(key, "base64").subarray(1));
  return {
    threshold: 1,
    pk_map: [
      { pubKey: { ED25519: raw(ed25519) }, weight: 1 },
      { pubKey: { Secp256k1: raw(secp256k1) }, weight: 1 },
    ],
  };
}
