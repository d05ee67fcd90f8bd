import { readFile, stat } from "node:fs/promises";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import {
  type GetSignReceiptResponse,
  GetSignReceiptResponseSchema,
} from "../../../gen/proto/tss/v1/receipts_pb.ts";
import { receiptFromJson } from "../../client/sdk/receipts/receipt-json.ts";
import { type ReceiptFault, verifyReceipt } from "../../client/sdk/receipts/verify-receipt.ts";
import { formatDollars } from "../../protocol/price-table.ts";
import { isChargeProved } from "../../protocol/seals/proved-charge.ts";
import { command, EXIT } from "../command-line/command.ts";
import {
  flag,
  hash,
  hashes,
  nonEmptyText,
  operand,
  optional,
  uuid,
  WrongValue,
} from "../command-line/option.ts";
import { serviceCommand } from "../connections/service-command.ts";
import { formatPairs, formatTime } from "../output/format.ts";

const get = serviceCommand({
  caller: "project",
  isDirect: false,
  summary: "show the receipt of a signature; with --json, print what `tss receipt verify` reads",
  options: { sign: operand("<id>", "the sign request", uuid) },
  call: ({ receipts }, { sign }) => receipts.getSignReceipt({ signRequestId: sign }),
  reply: GetSignReceiptResponseSchema,
  show: (receipt) =>
    `${describe(receipt)}\n\nKeep the receipt with --json, and check it with \`tss receipt verify\`.`,
});

const verify = command({
  summary: "verify a receipt, without the service",
  details:
    "Checks the signature, and that the audit trail has the submission with its price and its ledger entry.\n" +
    "Needs the hash of the seal or the keys that sign seals, noted elsewhere. Exits with 1 if anything is\n" +
    "wrong. An older submission does not prove the price and the ledger entry: the command then says so.\n" +
    "Nothing proves the time of the signature and the objects on the chain.",
  options: {
    file: operand("<file>", "the output of `tss receipt get --json`", nonEmptyText),
    expectSeal: optional("<hash>", "the hash of the seal, recorded elsewhere", hash),
    publicKey: optional("<keys>", "the permitted signing keys of the seals, separated by commas", hashes),
    dwalletKey: optional(
      "<hex>",
      "the dWallet's public key; default the receipt's own, which you must compare",
      keyInHex,
    ),
    json: flag("print a JSON object"),
  },
  async run({ file, expectSeal, publicKey = [], dwalletKey, json }, { print }) {
    if ((await stat(file)).size > MAX_BYTES)
      throw new Error("the file is longer than 8 MiB: this is no receipt");
    const receipt = receiptFromJson(await readFile(file, "utf8"));
    const faults = verifyReceipt(receipt, {
      dwalletPublicKey: dwalletKey ?? receipt.publicKey,
      expectedSealHash: expectSeal,
      publicKeys: publicKey,
    });
    const isValid = faults.length === 0;
    const isPriceProved = isValid && isChargeProved(receipt);
    if (json) print(JSON.stringify({ valid: isValid, faults, chargeProved: isPriceProved }));
    else if (isValid)
      print(
        [
          describe(receipt),
          "",
          "The receipt is valid.",
          isPriceProved
            ? "The seal covers the price and the ledger entry."
            : "The price and the ledger entry are not proved: the event is older and contains neither.",
          ...(dwalletKey ? [] : ["Compare the public key with the one that you know."]),
        ].join("\n"),
      );
    else print(["The receipt is wrong:", ...faults.map((fault) => `  ${WORDS[fault]}`)].join("\n"));
    return isValid ? EXIT.done : EXIT.failed;
  },
});

/** A message has at most one MiB, and JSON has it in base64. */
const MAX_BYTES = 8 * 1024 * 1024;

const WORDS: Readonly<Record<ReceiptFault, string>> = {
  public_key: "it is about another public key",
  signature: "the signature is not valid under the public key, for this message and algorithm",
  entry: "the event is not the submission of this request by this project",
  charge: "the price or the ledger entry is not that of the audited event",
  proof: "the event or the seal does not match its hashes, or the path does not lead to the seal",
  anchor: "the seal is not the expected one; --expect-seal or --public-key says what to trust",
  seal_signature: "the seal's signature is wrong, or none of the given keys made it",
};

function describe({ projectId, signRequest, publicKey, charge, auditEvent, auditSeal }: Receipt): string {
  return formatPairs([
    ["sign request", signRequest?.signRequestId],
    ["project", projectId],
    ["dWallet", signRequest?.dwalletId],
    ["public key", bytesToHex(publicKey)],
    ["message", signRequest && `${signRequest.message.length} bytes`],
    ["signature", signRequest?.signature && bytesToHex(signRequest.signature)],
    ["transaction", signRequest?.txDigest],
    ["price", charge && formatDollars(charge.priceMicroUsd)],
    ["ledger entry", charge?.ledgerEntryId],
    ["submitted", formatTime(auditEvent?.createTime)],
    ["by", auditEvent?.actor],
    ["seal", auditSeal?.number.toString()],
    ["seal hash", auditSeal && bytesToHex(auditSeal.sealHash)],
    ["sealed by", auditSeal && auditSeal.publicKey.length > 0 ? bytesToHex(auditSeal.publicKey) : "no key"],
  ]);
}

type Receipt = Omit<GetSignReceiptResponse, "$typeName">;

function keyInHex(value: string): Uint8Array {
  if (!/^(0x)?([0-9a-fA-F]{64}|0[23][0-9a-fA-F]{64})$/.test(value))
    throw new WrongValue("takes a public key in hex: 32 bytes, or 33 compressed");
  return hexToBytes(value.replace(/^0x/, ""));
}

export const receiptCommands = { get, verify };
