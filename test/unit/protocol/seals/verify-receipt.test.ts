import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { leafHash } from "../../../../src/protocol/seals/audit-entry.ts";
import { sealHash } from "../../../../src/protocol/seals/audit-seal.ts";
import { auditPath, GENESIS_HASH, merkleRoot } from "../../../../src/protocol/seals/merkle-tree.ts";
import { isChargeProved } from "../../../../src/protocol/seals/proved-charge.ts";
import {
  findReceiptFaults,
  type ReceiptClaim,
  type ReceiptFault,
  type SealTrust,
} from "../../../../src/protocol/seals/verify-receipt.ts";
import { signatureFromChain } from "../../../../src/protocol/signatures/signature-forms.ts";
import { createSealKey, type SealKey } from "../../../../src/service/audit/seal-events.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { flipBit, SIGNATURE_VECTORS } from "../../../support/crypto/signature-vectors.ts";

const TIME = new Date("2026-01-02T03:04:05.678Z");
const LATER = timestampFromDate(new Date(TIME.getTime() + 1));
const PROJECT = "01936a2b-0000-7000-8000-000000000001";
const OTHER_PROJECT = "01936a2b-0000-7000-8000-000000000002";
const REQUEST = "01936a2b-0000-7000-8000-00000000000a";
const OTHER_REQUEST = "01936a2b-0000-7000-8000-00000000000b";
const PRICE = 10n;
const KEY = createSealKey(new Secret("11".repeat(32)));
const OTHER_KEY = createSealKey(new Secret("22".repeat(32)));

const CHARGE = { ledgerEntryId: `sign:${REQUEST}`, amountMicroUsd: -PRICE };
const FOREIGN_CHARGE = { ledgerEntryId: `sign:${OTHER_REQUEST}`, amountMicroUsd: -PRICE };
const REFUND = { ledgerEntryId: `refund:${REQUEST}`, amountMicroUsd: PRICE };
const NO_MONEY = { ledgerEntryId: "", amountMicroUsd: undefined };
const EVENTS = [
  { action: "sign.reserve", subject: REQUEST, projectId: PROJECT, ...NO_MONEY },
  { action: "sign.submit", subject: OTHER_REQUEST, projectId: PROJECT, ...FOREIGN_CHARGE },
  { action: "sign.submit", subject: REQUEST, projectId: PROJECT, ...CHARGE },
  { action: "sign.submit", subject: REQUEST, projectId: OTHER_PROJECT, ...CHARGE },
  { action: "sign.fail", subject: REQUEST, projectId: PROJECT, ...NO_MONEY },
  { action: "sign.refund", subject: REQUEST, projectId: PROJECT, ...REFUND },
  { action: "sign.submit", subject: REQUEST, projectId: PROJECT, ...NO_MONEY },
  { action: "sign.submit", subject: REQUEST, projectId: PROJECT, ...FOREIGN_CHARGE },
];
const [OWN, REFUNDED, OLDER, CHARGED_TO_ANOTHER] = [2, 5, 6, 7];

/** A receipt of the first vector's signature whose proof is that of the event with this index. */
function receiptOf(index = OWN, { key, vector = SIGNATURE_VECTORS[0]! }: ReceiptParts = {}) {
  const entries = EVENTS.map((event, at) => ({
    ...event,
    sequence: 8n + BigInt(at),
    auditEventId: 100n + BigInt(at),
    createdAt: TIME,
    actor: "key:1",
    requestId: "r-1",
    address: "192.0.2.1",
  }));
  const leaves = entries.map((entry) =>
    leafHash({
      ...entry,
      ledgerEntryId: entry.ledgerEntryId || null,
      amountMicroUsd: entry.amountMicroUsd ?? null,
    }),
  );
  const content = {
    number: 3n,
    firstSequence: 8n,
    lastSequence: 8n + BigInt(EVENTS.length) - 1n,
    merkleRoot: merkleRoot(leaves),
    chainHash: leaves[0]!,
    previousSealHash: GENESIS_HASH,
  };
  const hash = sealHash({ ...content, createdAt: TIME });
  const { createdAt: _, ...event } = entries[index]!;
  const createTime = timestampFromDate(TIME);
  const { triple, publicKey, message, chainSignature } = vector;
  return {
    signRequestId: REQUEST,
    projectId: PROJECT,
    charge: { ledgerEntryId: `sign:${REQUEST}`, priceMicroUsd: PRICE },
    signatureAlgorithm: triple.signatureAlgorithm,
    hash: triple.hash,
    publicKey,
    message,
    signature: signatureFromChain(triple.signatureAlgorithm, chainSignature),
    proof: {
      auditEvent: { ...event, createTime },
      auditSeal: {
        ...content,
        createTime,
        sealHash: hash,
        publicKey: key?.publicKey ?? new Uint8Array(),
        signature: key?.signSeal(hash) ?? new Uint8Array(),
      },
      auditPath: auditPath(leaves, index),
    },
  } satisfies ReceiptClaim;
}

interface ReceiptParts {
  readonly key?: SealKey;
  readonly vector?: (typeof SIGNATURE_VECTORS)[number];
}

const bothOf = ({ proof }: Pick<ReturnType<typeof receiptOf>, "proof">): SealTrust => ({
  expectedSealHash: proof.auditSeal.sealHash,
  publicKeys: [KEY.publicKey],
});

it("a true receipt of each algorithm has no fault, by the seal's hash, by its key and by both", () => {
  for (const vector of SIGNATURE_VECTORS) {
    const receipt = receiptOf(OWN, { key: KEY, vector });
    const both = bothOf(receipt);
    expect(findReceiptFaults(receipt, both)).toEqual([]);
    expect(findReceiptFaults(receipt, { expectedSealHash: both.expectedSealHash })).toEqual([]);
    expect(findReceiptFaults(receipt, { publicKeys: [OTHER_KEY.publicKey, KEY.publicKey] })).toEqual([]);
  }
});

it("a changed bit of any byte, unit or letter in any field is found", () => {
  const receipt = receiptOf(OWN, { key: KEY });
  const { auditEvent, auditSeal, auditPath: path } = receipt.proof;
  const changed = (value: unknown): readonly unknown[] => {
    if (typeof value === "bigint") return [value + 1n, value - 1n];
    if (typeof value === "string") return [`${value}x`, value.slice(1)];
    if (!(value instanceof Uint8Array)) return [LATER];
    return Array.from(value, (_, byte) => flipBit(Uint8Array.from(value), 8 * byte + ((byte * 5) % 8)));
  };
  const found = (name: string, changes: readonly ReceiptClaim[], trust: SealTrust) => {
    expect(changes.length, name).toBeGreaterThan(0);
    for (const change of changes) expect(findReceiptFaults(change, trust), name).not.toEqual([]);
  };
  // A key alone proves less than both, so whatever it finds is found with both too.
  const trust = { publicKeys: [KEY.publicKey] };
  expect(findReceiptFaults(receipt, trust)).toEqual([]);
  const { proof, charge, ...claim } = receipt;
  for (const [name, value] of Object.entries(charge))
    found(
      `charge ${name}`,
      changed(value).map((other) => ({ ...receipt, charge: { ...charge, [name]: other } })),
      trust,
    );
  for (const [name, value] of Object.entries(claim))
    found(
      name,
      changed(value).map((other) => ({ ...receipt, [name]: other })),
      trust,
    );
  for (const [name, value] of Object.entries(auditEvent))
    found(
      `event ${name}`,
      changed(value).map((other) => ({
        ...receipt,
        proof: { ...proof, auditEvent: { ...auditEvent, [name]: other } },
      })),
      trust,
    );
  for (const [name, value] of Object.entries(auditSeal))
    found(
      `seal ${name}`,
      changed(value).map((other) => ({
        ...receipt,
        proof: { ...proof, auditSeal: { ...auditSeal, [name]: other } },
      })),
      trust,
    );
  path.forEach((sibling, at) => {
    const paths = changed(sibling).map((other) => path.with(at, other as Uint8Array));
    found(
      `path ${at}`,
      paths.map((auditPath) => ({ ...receipt, proof: { ...proof, auditPath } })),
      trust,
    );
  });
});

it.each<[string, number, ReceiptFault[]]>([
  ["the reservation of the request", 0, ["entry"]],
  ["the submission of another request", 1, ["entry", "charge"]],
  ["the submission by another project", 3, ["entry"]],
  ["the failure of the request", 4, ["entry"]],
  ["the refund of the request", REFUNDED, ["entry", "charge"]],
])("the proof of %s is not a receipt", (_name, index, faults) => {
  const receipt = receiptOf(index, { key: KEY });
  expect(findReceiptFaults(receipt, bothOf(receipt))).toEqual(faults);
});

it.each<[string, ReceiptClaim["charge"]]>([
  ["a lower price", { ledgerEntryId: `sign:${REQUEST}`, priceMicroUsd: PRICE - 1n }],
  ["a higher price", { ledgerEntryId: `sign:${REQUEST}`, priceMicroUsd: PRICE + 1n }],
  ["the price with the other sign", { ledgerEntryId: `sign:${REQUEST}`, priceMicroUsd: -PRICE }],
  ["the ledger entry of another request", { ledgerEntryId: `sign:${OTHER_REQUEST}`, priceMicroUsd: PRICE }],
  ["the ledger entry of the refund", { ledgerEntryId: `refund:${REQUEST}`, priceMicroUsd: PRICE }],
  ["no charge", undefined],
])("a receipt with %s is not that of the audited charge", (_name, charge) => {
  const receipt = { ...receiptOf(OWN, { key: KEY }), charge };
  expect(findReceiptFaults(receipt, bothOf(receipt))).toEqual(["charge"]);
});

it("a submission that is audited with the charge of another request is refused, also if the file repeats it", () => {
  const receipt = receiptOf(CHARGED_TO_ANOTHER, { key: KEY });
  expect(findReceiptFaults(receipt, bothOf(receipt))).toEqual(["charge"]);
  const charge = { ledgerEntryId: `sign:${OTHER_REQUEST}`, priceMicroUsd: PRICE };
  expect(findReceiptFaults({ ...receipt, charge }, bothOf(receipt))).toEqual(["charge"]);
});

it("an older submission without a charge is valid, and does not prove the price", () => {
  const [older, own] = [receiptOf(OLDER, { key: KEY }), receiptOf(OWN, { key: KEY })];
  expect(findReceiptFaults(older, bothOf(older))).toEqual([]);
  expect(isChargeProved(older.proof)).toBe(false);
  expect(isChargeProved(own.proof)).toBe(true);
  expect(isChargeProved({})).toBe(false);
});

it("a seal that nothing vouches for is refused, whether it is signed or not", () => {
  for (const key of [KEY, undefined]) {
    const receipt = receiptOf(OWN, key && { key });
    expect(findReceiptFaults(receipt, {})).toEqual(["anchor"]);
    expect(findReceiptFaults(receipt, { publicKeys: [] })).toEqual(["anchor"]);
    const expectedSealHash = flipBit(receipt.proof.auditSeal.sealHash, 0);
    expect(findReceiptFaults(receipt, { expectedSealHash })).toEqual(["anchor"]);
  }
});

it("a seal that none of the given keys signed is refused, even if its hash is expected", () => {
  for (const parts of [{ key: OTHER_KEY }, {}]) {
    const receipt = receiptOf(OWN, parts);
    expect(findReceiptFaults(receipt, { publicKeys: [KEY.publicKey] })).toEqual(["seal_signature"]);
    expect(findReceiptFaults(receipt, bothOf(receipt))).toEqual(["seal_signature"]);
  }
  const unsigned = receiptOf();
  expect(findReceiptFaults(unsigned, { expectedSealHash: unsigned.proof.auditSeal.sealHash })).toEqual([]);
});

it("a receipt without an event or without a seal is refused", () => {
  const receipt = receiptOf(OWN, { key: KEY });
  const without = (part: "auditEvent" | "auditSeal") => ({
    ...receipt,
    proof: { ...receipt.proof, [part]: undefined },
  });
  expect(findReceiptFaults(without("auditEvent"), bothOf(receipt))).toEqual(["entry", "proof"]);
  expect(findReceiptFaults(without("auditSeal"), bothOf(receipt))).toEqual([
    "proof",
    "anchor",
    "seal_signature",
  ]);
});
