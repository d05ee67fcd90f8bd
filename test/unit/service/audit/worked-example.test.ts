/** The example of docs/audit.md, recomputed by hand from the bytes that it describes. */
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect, it } from "vitest";
import { encodeEntry } from "../../../../src/protocol/seals/audit-entry.ts";
import { verified } from "../../../support/database/audit-trail.ts";
import { readSource } from "../../../support/repository/source-files.ts";

const document = readSource("docs/audit.md").text;
const fence = (language: string) =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?\n)\`\`\``, "m").exec(document)![1]!;
const lines = fence("ndjson").trimEnd().split("\n");
const [, seal, one, two, three] = lines.map((line) => Object.values(JSON.parse(line) as object)[0]);

const sha = (hex: string) => createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");
const ascii = (text: string) => Buffer.from(text).toString("hex");
const u64 = (value: string | number) => BigInt(value).toString(16).padStart(16, "0");
const text = (value: string) => Buffer.byteLength(value).toString(16).padStart(8, "0") + ascii(value);
const optional = (value: string | null) => (value === null ? "00" : `01${text(value)}`);
const bytesOf = (entry: typeof one) =>
  ascii("tss.audit.entry.v1") +
  u64(entry.sequence) +
  u64(entry.auditEventId) +
  u64(Date.parse(entry.createTime)) +
  text(entry.actor) +
  text(entry.action) +
  text(entry.subject) +
  optional(entry.projectId) +
  optional(entry.requestId) +
  optional(entry.address);

it("the documented example has the canonical bytes of its second entry", () => {
  expect(bytesOf(two)).toBe(fence("text").replaceAll("\n", ""));
});

it("the documented example has the leaf hashes and the chain of its entries", () => {
  let chain = "00".repeat(32);
  for (const entry of [one, two, three]) {
    const leaf = sha(`00${bytesOf(entry)}`);
    chain = sha(ascii("tss.audit.chain.v1") + chain + leaf);
    expect([entry.leafHash, entry.chainHash]).toEqual([leaf, chain]);
  }
  expect(seal.chainHash).toBe(chain);
});

it("the documented example has the seal's root, hash and signature", () => {
  const root = sha(`01${sha(`01${one.leafHash}${two.leafHash}`)}${three.leafHash}`);
  expect(seal.merkleRoot).toBe(root);
  const hash = sha(
    ascii("tss.audit.seal.v1") +
      u64(1) +
      u64(1) +
      u64(3) +
      u64(Date.parse(seal.createTime)) +
      root +
      three.chainHash +
      "00".repeat(32),
  );
  expect(seal.sealHash).toBe(hash);
  const publicKey = ed25519.getPublicKey(new Uint8Array(32).fill(1));
  expect(seal.publicKey).toBe(Buffer.from(publicKey).toString("hex"));
  const signed = Buffer.from(ascii("tss.audit.signature.v1") + hash, "hex");
  expect(ed25519.verify(Buffer.from(seal.signature, "hex"), signed, publicKey)).toBe(true);
});

it("an entry with a ledger entry has the documented bytes, and a negative amount in two's complement", () => {
  const { leafHash: _leaf, chainHash: _chain, createTime, ...entry } = two;
  const encoded = encodeEntry({
    ...entry,
    sequence: BigInt(entry.sequence),
    auditEventId: BigInt(entry.auditEventId),
    createdAt: new Date(createTime),
    ledgerEntryId: "sign:1",
    amountMicroUsd: -10n,
  });
  const plain = bytesOf(two).replace(ascii("tss.audit.entry.v1"), ascii("tss.audit.entry.v2"));
  expect(Buffer.from(encoded).toString("hex")).toBe(`${plain}${text("sign:1")}fffffffffffffff6`);
});

it("an export of the first format still verifies", async () => {
  const older = [lines[0]!.replace("export-v2", "export-v1"), ...lines.slice(1)];
  expect(await verified(older.map((line) => Buffer.from(`${line}\n`)))).toMatchObject({ faults: [] });
});

it("the documented example verifies", async () => {
  const report = await verified(lines.map((line) => Buffer.from(`${line}\n`)));
  expect(report).toMatchObject({ faults: [], entryCount: 3n, sealCount: 1n });
});
