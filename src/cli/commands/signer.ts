import { Curve } from "../../client/sdk/names.ts";
import { parseSeal, SEAL_FORMS } from "../../service/config/seal-choice.ts";
import { PAYLOAD_KINDS } from "../../signer/mcp/payload-input.ts";
import { command } from "../command-line/command.ts";
import {
  choiceOf,
  choicesOf,
  count,
  defaulted,
  httpUrl,
  nonEmptyText,
  objectId,
  operand,
  optional,
  required,
  texts,
  userReference,
  WrongValue,
} from "../command-line/option.ts";
import { fullAddress } from "../treasury/change-options.ts";

/** The options that name a key. */
const KEY_OPTIONS = {
  name: operand("<name>", "the name of the key", keyName),
  curve: optional("<curve>", "with SIGNER_STORE=memory: the key's curve", choiceOfCurve),
  user: optional("<reference>", "with SIGNER_STORE=memory: the user that the key belongs to", userReference),
};

export const signerCommands = {
  create: command({
    summary: "create the encrypted store of a signer's keys",
    details:
      "The store is SIGNER_STORE, and SIGNER_SEAL seals it: a passphrase in SIGNER_PASSPHRASE_FILE, or asked on the terminal.\n" +
      "Whoever loses the store or what seals it loses every key in it for good: nobody else has the seeds.",
    options: {},
    run: async (_, context) => (await import("../signer/key-file-commands.ts")).createStore(context),
  }),
  serve: command({
    summary:
      "make keys and sign for a backend on this machine; run it beside the backend, never at the operator's",
    details: "docs/signer.md lists the variables that it reads.",
    options: {},
    run: async (_, context) => (await import("../signer/serve-signer.ts")).serveSigner(context),
  }),
  mcp: command({
    summary:
      "serve a running signer to an agent over the Model Context Protocol; it signs nothing by default",
    details:
      "Without --listen-port it speaks over standard input and output, for a host that starts it.\n" +
      "docs/agents.md says what an agent can do, and what it cannot.",
    options: {
      url: optional("<url>", "the signer's URL; default: its socket, SIGNER_SOCKET", httpUrl),
      tokenFile: optional("<file>", "the file with the signer's token, for --url", nonEmptyText),
      listenPort: optional("<port>", "serve HTTP on this port of 127.0.0.1; 0 selects one", count(0, 65_535)),
      listenTokenFile: optional("<file>", "the file with the token that agents send over HTTP", nonEmptyText),
      allowSign: optional("<keys>", "the keys that may sign, separated by commas", keyNames),
      payloads: optional(
        "<kinds>",
        "what they may sign; default: transactions, and with --max-wei evm_transaction alone",
        choicesOf(PAYLOAD_KINDS),
      ),
      perHour: defaulted("<count>", "signatures of a key in an hour", count(1, 1_000), "10"),
      perDay: defaulted("<count>", "signatures of a key in a day", count(1, 10_000), "50"),
      ledger: defaulted("<folder>", "counts them across restarts", nonEmptyText, "signer-mcp-ledger"),
      maxWei: optional("<wei>", "sign only transfers on Ethereum, up to this value with its fee", wei),
      chains: optional("<ids>", "the chains of those transfers, separated by commas", chainIds),
      destinations: optional("<addresses>", "where they may go, separated by commas", evmAddresses),
      tokens: optional(
        "<address=units,...>",
        "the tokens that may be transferred, and the most",
        tokenLimits,
      ),
    },
    run: async (values, context) => (await import("../signer/serve-mcp.ts")).serveMcp(values, context),
  }),
  backup: command({
    summary: "write a checked copy of the keys to a file, also while the signer runs",
    details: "The copy has the same seal. It lacks the keys that are made later.",
    options: { out: required("<file>", "the new file of the copy", nonEmptyText) },
    run: async ({ out }, context) =>
      (await import("../signer/key-file-commands.ts")).backUpStore(out, context),
  }),
  restore: command({
    summary: "make the store from a copy, if there is none",
    details: "It overwrites nothing. Keys that were made after the copy are not in it.",
    options: {
      from: required("<file>", "the copy", nonEmptyText),
      fromSeal: optional("<seal>", "what seals the copy, if it is not SIGNER_SEAL", sealForm),
    },
    run: async ({ from, fromSeal }, context) =>
      (await import("../signer/key-file-commands.ts")).restoreStore(from, fromSeal, context),
  }),
  export: command({
    summary: "write the seed of one key to a file, in clear text, also while the signer runs",
    details:
      "The file has 64 hex digits and mode 0600, and `tss recover` and the SDK read it. Nothing else shows the seed.\n" +
      "Whoever has the file can take the dWallet out of the service and sign with the key.",
    options: { ...KEY_OPTIONS, out: required("<file>", "the new file of the seed", nonEmptyText) },
    run: async (values, context) => (await import("../signer/export-key.ts")).exportKey(values, context),
  }),
  leave: command({
    summary: "take a key out of the service: its dWallet's capability goes to a Sui address, for good",
    details:
      "The seed signs, and the service submits and pays for the gas. With --key-file, a key of yours does, past the\n" +
      "service. It asks for the key's name, unless --confirm has it. Repeat it after an interruption: it reads the chain\n" +
      "first. Standard error has the audit line that a watchtower reads.",
    options: {
      ...KEY_OPTIONS,
      to: required("<address>", "the Sui address that gets the capability; have its key", fullAddress),
      confirm: optional("<name>", "the key's name again, so that nothing is asked", nonEmptyText),
      dwallet: optional("<id>", "the dWallet, if the store does not know it", objectId),
      keyFile: optional("<file>", "pay for the gas with the Sui key in this file", nonEmptyText),
      package: optional("<id>", "with --key-file: the newest package of an upgraded Treasury", objectId),
    },
    run: async (values, context) =>
      (await import("../signer/leave-service.ts")).leaveService(values, context),
  }),
};

function keyNames(value: string): string[] {
  const names = texts(value);
  if (!names.every((name) => KEY_NAME.test(name)))
    throw new WrongValue("takes names of keys, separated by commas");
  return names;
}

function keyName(value: string): string {
  if (!KEY_NAME.test(value)) throw new WrongValue("takes the name of a key");
  return value;
}

function choiceOfCurve(value: string): Curve {
  return choiceOf(Object.values(Curve))(value);
}

function wei(value: string): bigint {
  if (!/^\d{1,30}$/.test(value)) throw new WrongValue("takes a whole number of wei");
  return BigInt(value);
}

function chainIds(value: string): number[] {
  return texts(value).map(count(1, Number.MAX_SAFE_INTEGER));
}

function evmAddresses(value: string): string[] {
  return texts(value).map((address) => {
    if (!/^0x[0-9a-f]{40}$/i.test(address))
      throw new WrongValue("takes addresses of Ethereum, 0x and 40 hex digits");
    return address.toLowerCase();
  });
}

function tokenLimits(value: string): ReadonlyMap<string, bigint> {
  return new Map(
    texts(value).map((text) => {
      const [, address, units] = /^(0x[0-9a-f]{40})=(\d{1,78})$/i.exec(text) ?? [];
      if (address === undefined || units === undefined)
        throw new WrongValue("takes tokens with their most units, such as 0x…=1000000, separated by commas");
      return [address.toLowerCase(), BigInt(units)] as const;
    }),
  );
}

function sealForm(value: string): string {
  if (parseSeal(value) === undefined) throw new WrongValue(`takes ${SEAL_FORMS}`);
  return value;
}

const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+:-]{0,127}$/;
