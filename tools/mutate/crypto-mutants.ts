import type { Mutant } from "./mutant.ts";

const VERIFY = ["test/unit/protocol/verify-signature.test.ts"];
const AUDIT = ["test/component/service/audit/verify-export.test.ts"];
const SDK_SIGN = ["test/unit/client/sdk/sign.test.ts"];

/** Lines that verify a signature, a half, or the audit trail. */
export const CRYPTO_MUTANTS: readonly Mutant[] = [
  {
    name: "an ECDSA signature with high s is accepted",
    file: "src/protocol/signatures/verify-signature.ts",
    find: "  if (curve.Signature.fromBytes(compact).hasHighS()) return false;\n",
    replace: "",
    tests: VERIFY,
  },
  {
    name: "an ECDSA signature of any key is accepted",
    file: "src/protocol/signatures/verify-signature.ts",
    find: "return equalBytes(recovered, publicKey);",
    replace: "return recovered.length === publicKey.length;",
    tests: VERIFY,
  },
  {
    name: "an ECDSA signature without its recovery id is accepted",
    file: "src/protocol/signatures/verify-signature.ts",
    find: "const recoveryId = signature[64];\n  if (signature.length !== 65 || recoveryId === undefined || recoveryId > 3) return false;",
    replace: "const recoveryId = signature[64] ?? 0;",
    tests: VERIFY,
  },
  {
    name: "an Ed25519 signature is verified by the laxer ZIP 215",
    file: "src/protocol/signatures/verify-ed25519.ts",
    find: "{ zip215: false }",
    replace: "{ zip215: true }",
    tests: VERIFY,
  },
  {
    name: "an sr25519 signature without its format bit is accepted",
    file: "src/protocol/signatures/verify-signature.ts",
    find: "signature.length !== 64 || (signature[63]! & 0x80) === 0",
    replace: "signature.length !== 64",
    tests: VERIFY,
  },
  {
    name: "a wrong partial signature is accepted",
    file: "src/protocol/signatures/verify-partial-signature.ts",
    find: "return group.base.multiplyUnsafe(response).equals(ownNonce.add(ownShare.multiplyUnsafe(e)));",
    replace:
      "return !ownNonce.add(ownShare.multiplyUnsafe(e)).equals(group.base.multiplyUnsafe(response + 1n));",
    tests: ["test/unit/service/signing/check-sign-message.test.ts"],
  },
  {
    name: "the partial signature of a Taproot key with odd y is refused",
    file: "src/protocol/signatures/verify-partial-signature.ts",
    find: "signs.isShareNegated ? userPublicShare.negate() : userPublicShare",
    replace: "userPublicShare",
    tests: ["test/unit/service/signing/check-sign-message.test.ts"],
  },
  {
    name: "the client signs for an output that is not the chain's",
    file: "src/client/sdk/actions/signing/sign-within.ts",
    find: "if (!equalBytes(reserved.dwalletPublicOutput, publicOutput)) {",
    replace: "if (publicOutput.length === 0) {",
    tests: SDK_SIGN,
  },
  {
    name: "the client returns a signature that does not verify",
    file: "src/client/sdk/actions/signing/sign-within.ts",
    find: "    !verifySignature({ ...triple, publicKey, message, signature })\n",
    replace: "    message.length === 0\n",
    tests: SDK_SIGN,
  },
  {
    name: "the client calls a service of another network",
    file: "src/client/sdk/chain/network.ts",
    find: "if (answer.network !== network) {",
    replace: "if (answer.network === '') {",
    tests: ["test/unit/client/sdk/onboard.test.ts", ...SDK_SIGN],
  },
  {
    name: "an entry of the audit trail does not depend on those before it",
    file: "src/protocol/seals/audit-entry.ts",
    find: "return sha256(CHAIN_VERSION, previous, leaf);",
    replace: "return sha256(CHAIN_VERSION, leaf);",
    tests: ["test/unit/service/audit/worked-example.test.ts"],
  },
  {
    name: "an entry that does not continue the chain is accepted",
    file: "src/service/audit/check-entries.ts",
    find: "continued?.some((hash) => equalBytes(hash, entry.chainHash)) ?? true",
    replace: "true",
    tests: AUDIT,
  },
  {
    name: "a seal that does not match its entries is accepted",
    file: "src/service/audit/verify-seals.ts",
    find: "Buffer.compare(root, seal.merkleRoot) === 0 && Buffer.compare(last.chainHash, seal.chainHash) === 0",
    replace: "root.length === seal.merkleRoot.length",
    tests: AUDIT,
  },
  {
    name: "a proof that does not lead to the seal's root is accepted",
    file: "src/protocol/seals/verify-proof.ts",
    find: "return root !== undefined && equalBytes(root, seal.merkleRoot);",
    replace: "return root !== undefined;",
    tests: ["test/unit/protocol/seals/verify-proof.test.ts"],
  },
  {
    name: "a receipt is accepted with the submission of another request",
    file: "src/protocol/seals/verify-receipt.ts",
    find: "event.subject !== receipt.signRequestId",
    replace: "event.subject.length !== receipt.signRequestId.length",
    tests: ["test/unit/protocol/seals/verify-receipt.test.ts"],
  },
  {
    name: "a receipt is accepted for another project",
    file: "src/protocol/seals/verify-receipt.ts",
    find: "event.projectId !== receipt.projectId",
    replace: "event.projectId.length !== receipt.projectId.length",
    tests: ["test/unit/protocol/seals/verify-receipt.test.ts"],
  },
  {
    name: "a receipt of another public key is accepted",
    file: "src/client/sdk/receipts/verify-receipt.ts",
    find: '? [] : ["public_key"]',
    replace: "? [] : []",
    tests: ["test/component/service/signing/receipts.test.ts"],
  },
  {
    name: "a project gets the proof of another project's submission",
    file: "src/service/signing/receipts-service.ts",
    find: "if (row === undefined) throw signRequestNotFound(signRequestId);",
    replace: "",
    tests: ["test/component/service/signing/receipts.test.ts"],
  },
  {
    name: "a project gets receipts without a bound",
    file: "src/service/signing/receipts-service.ts",
    find: "if (!isAllowed)",
    replace: "if (false as boolean)",
    tests: ["test/component/service/signing/receipts.test.ts"],
  },
  {
    name: "a receipt is trusted without a hash and without a key",
    file: "src/protocol/seals/verify-receipt.ts",
    find: "return publicKeys.length > 0;",
    replace: "return true;",
    tests: ["test/unit/protocol/seals/verify-receipt.test.ts"],
  },
  {
    name: "a receipt is accepted whose seal none of the given keys signed",
    file: "src/protocol/seals/verify-receipt.ts",
    find: "publicKeys.some((key) => equalBytes(key, seal.publicKey))",
    replace: "publicKeys.some((key) => key.length === seal.publicKey.length)",
    tests: ["test/unit/protocol/seals/verify-receipt.test.ts"],
  },
  {
    name: "a seal whose signature is wrong is accepted",
    file: "src/service/audit/verify-seals.ts",
    find: '  if (!verifySealSignature(publicKey, hash, signature)) return "wrong";\n',
    replace: "",
    tests: ["test/component/service/audit/seal-events.test.ts"],
  },
];
