import { createHash } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { leafHash } from "../../../../src/protocol/seals/audit-entry.ts";
import { sealHash } from "../../../../src/protocol/seals/audit-seal.ts";
import { auditPath, merkleRoot } from "../../../../src/protocol/seals/merkle-tree.ts";
import {
  type AuditProofReply,
  checkSealSignature,
  isProved,
} from "../../../../src/protocol/seals/verify-proof.ts";
import { createSealKey } from "../../../../src/service/audit/seal-events.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";

const TIME = new Date("2026-01-02T03:04:05.678Z");
const FIRST_SEQUENCE = 8n;
const LEAF_COUNT = 5;

const entry = (index: number) => ({
  sequence: FIRST_SEQUENCE + BigInt(index),
  auditEventId: 100n + BigInt(index),
  createdAt: TIME,
  actor: "admin:alice",
  action: "key.revoke",
  subject: `key-${index}`,
  projectId: index % 2 === 0 ? "project" : null,
  requestId: null,
  address: null,
  ledgerEntryId: index === 2 ? "sign:1" : null,
  amountMicroUsd: index === 2 ? -10n : null,
});

function proofOf(index: number): Required<AuditProofReply> {
  const leaves = Array.from({ length: LEAF_COUNT }, (_, each) => leafHash(entry(each)));
  const content = {
    number: 3n,
    firstSequence: FIRST_SEQUENCE,
    lastSequence: FIRST_SEQUENCE + BigInt(LEAF_COUNT) - 1n,
    merkleRoot: merkleRoot(leaves),
    chainHash: createHash("sha256").update("chain").digest(),
    previousSealHash: createHash("sha256").update("previous").digest(),
  };
  const { createdAt: _, ...event } = entry(index);
  const createTime = timestampFromDate(TIME);
  return {
    auditEvent: {
      ...event,
      projectId: event.projectId ?? "",
      requestId: "",
      address: "",
      createTime,
      ledgerEntryId: event.ledgerEntryId ?? "",
      amountMicroUsd: event.amountMicroUsd ?? undefined,
    },
    auditSeal: {
      ...content,
      createTime,
      sealHash: sealHash({ ...content, createdAt: TIME }),
      publicKey: new Uint8Array(),
      signature: new Uint8Array(),
    },
    auditPath: auditPath(leaves, index),
  };
}

it("every event of a seal is proved", () => {
  for (let index = 0; index < LEAF_COUNT; index++) expect(isProved(proofOf(index))).toBe(true);
});

it("a proof fails if any field of the event or the seal is changed", () => {
  const proof = proofOf(2);
  const later = timestampFromDate(new Date(TIME.getTime() + 1));
  const other = (value: unknown) => {
    if (typeof value === "bigint") return value + 1n;
    if (typeof value === "string") return `${value}x`;
    return value instanceof Uint8Array ? value.map((byte) => byte ^ 1) : later;
  };
  for (const [name, value] of Object.entries(proof.auditEvent!))
    expect(isProved({ ...proof, auditEvent: { ...proof.auditEvent!, [name]: other(value) } }), name).toBe(
      false,
    );
  const { publicKey: _, signature: __, ...sealed } = proof.auditSeal!;
  for (const [name, value] of Object.entries(sealed))
    expect(isProved({ ...proof, auditSeal: { ...proof.auditSeal!, [name]: other(value) } }), name).toBe(
      false,
    );
});

it("a proof fails with the path of another event, and without an event, a seal or a sequence", () => {
  const proof = proofOf(2);
  expect(isProved({ ...proof, auditPath: proofOf(1).auditPath })).toBe(false);
  expect(isProved({ ...proof, auditPath: proof.auditPath.slice(1) })).toBe(false);
  expect(isProved({ ...proof, auditEvent: undefined })).toBe(false);
  expect(isProved({ ...proof, auditSeal: undefined })).toBe(false);
  expect(isProved({ ...proof, auditEvent: { ...proof.auditEvent!, sequence: undefined } })).toBe(false);
});

it("a proof fails with an amount or a ledger entry that the event's hash does not cover", () => {
  const [plain, money] = [proofOf(1), proofOf(2)];
  const changed = (proof: AuditProofReply, changes: object) =>
    isProved({ ...proof, auditEvent: { ...proof.auditEvent!, ...changes } });
  expect(changed(plain, {})).toBe(true);
  expect(changed(plain, { amountMicroUsd: 0n })).toBe(false);
  expect(changed(plain, { ledgerEntryId: "sign:1" })).toBe(false);
  expect(changed(plain, { ledgerEntryId: "sign:1", amountMicroUsd: 0n })).toBe(false);
  expect(changed(money, { ledgerEntryId: "" })).toBe(false);
  expect(changed(money, { amountMicroUsd: undefined })).toBe(false);
  expect(changed(money, { ledgerEntryId: "", amountMicroUsd: undefined })).toBe(false);
  expect(changed(money, { amountMicroUsd: 10n })).toBe(false);
});

it("a proof with a time that no date can hold fails without an exception", () => {
  const proof = proofOf(2);
  const createTime = { ...timestampFromDate(TIME), seconds: 2n ** 62n };
  expect(isProved({ ...proof, auditEvent: { ...proof.auditEvent!, createTime } })).toBe(false);
  expect(isProved({ ...proof, auditSeal: { ...proof.auditSeal!, createTime } })).toBe(false);
});

it("a seal's signature is absent, valid, or wrong if the hash, the key or the signature differs", () => {
  const seal = proofOf(0).auditSeal!;
  const key = createSealKey(new Secret("11".repeat(32)));
  const signed = { ...seal, publicKey: key.publicKey, signature: key.signSeal(seal.sealHash) };
  expect(checkSealSignature(seal)).toBe("none");
  expect(checkSealSignature(signed)).toBe("valid");
  expect(checkSealSignature({ ...signed, sealHash: seal.merkleRoot })).toBe("wrong");
  expect(checkSealSignature({ ...signed, signature: new Uint8Array(64) })).toBe("wrong");
  expect(checkSealSignature({ ...signed, publicKey: new Uint8Array() })).toBe("wrong");
});
