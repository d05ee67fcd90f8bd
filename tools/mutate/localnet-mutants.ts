import type { Mutant } from "./mutant.ts";

const SHARING = ["test/component/localnet/contracts/sharing.test.ts"];
const DURING_DKG = ["test/component/localnet/contracts/sign-during-dkg.test.ts"];
const FUTURE = ["test/component/localnet/contracts/future-sign.test.ts"];
const IMPORTED = ["test/component/localnet/contracts/imported-keys.test.ts"];
const IMPORT_PROOFS = ["test/component/localnet/mpc/import-key.test.ts"];
const OLDER = ["test/unit/localnet/contracts/older-network.test.ts"];
const SHARE_CHECKS = ["test/unit/localnet/mpc/share-checks.test.ts"];

/** Lines with which the local network refuses what Ika refuses. */
export const LOCALNET_MUTANTS: readonly Mutant[] = [
  {
    name: "any share becomes a dWallet's public share",
    file: "src/localnet/mpc/share-checks.ts",
    find: 'rejectUnless(scaleBase(curve, share).equals(publicShare), "public user share is not the dWallet\'s");',
    replace: "",
    tests: SHARE_CHECKS,
  },
  {
    name: "a share is accepted in a ciphertext that nobody can decrypt",
    file: "src/protocol/proofs/encrypted-share.ts",
    find: "ciphertext.every((form) => isSquare(group, form)),",
    replace: "isSquare(group, ciphertext[0]),",
    tests: SHARE_CHECKS,
  },
  {
    name: "a share that the network rejected is published",
    file: "src/localnet/contracts/coordinator/completion/complete-share.ts",
    find: "  if (completed) {\n    const dwallet",
    replace: "  {\n    const dwallet",
    tests: SHARING,
  },
  {
    name: "a public share is made public again",
    file: "src/localnet/contracts/coordinator/dwallets/share-requests.ts",
    find: "dwallet.public_user_secret_key_share !== null",
    replace: "dwalletId === ''",
    tests: SHARING,
  },
  {
    name: "a key is imported without its owner's knowledge of the share",
    file: "src/localnet/mpc/import-key.ts",
    find: "    isKnowledgeProved(curve, sessionId, message),\n",
    replace: "    true,\n",
    tests: IMPORT_PROOFS,
  },
  {
    name: "a key is imported without a proof of the network's share",
    file: "src/localnet/mpc/import-key.ts",
    find: "  verifyEncryptedShare(curve, key.encryptionKey, networkShare, dealt, dealtShareContext(sessionId));\n",
    replace: "",
    tests: IMPORT_PROOFS,
  },
  {
    name: "a key is imported with another encrypted share",
    file: "src/localnet/mpc/import-key.ts",
    find: "  checkEncryptedShare(curve, userShare, input);\n",
    replace: "",
    tests: IMPORT_PROOFS,
  },
  {
    name: "a presign of one dWallet serves another",
    file: "src/localnet/mpc/presign.ts",
    find: 'rejectUnless(presign.publicKey.equals(dwallet.publicKey), "presign is of another dWallet");',
    replace: "",
    tests: IMPORT_PROOFS,
  },
  {
    name: "imported keys sign ECDSA with global presigns",
    file: "src/localnet/contracts/coordinator/support.ts",
    find: "!(isImported && isEcdsa(curve, signatureAlgorithm))",
    replace: "true",
    tests: IMPORTED,
  },
  {
    name: "an imported key signs with a presign of another dWallet",
    file: "src/localnet/contracts/coordinator/support.ts",
    find: "presignDwalletId !== dwallet.id",
    replace: "presignDwalletId === null",
    tests: IMPORTED,
  },
  {
    name: "a presign of another network key is accepted",
    file: "src/localnet/contracts/coordinator/signing/take-presign.ts",
    find: "(networkKeyId ?? dwalletNetworkKeyId) !== dwalletNetworkKeyId",
    replace: "networkKeyId === ''",
    tests: IMPORTED,
  },
  {
    name: "a share of another dWallet is a source of a re-encrypted share",
    file: "src/localnet/contracts/coordinator/dwallets/share-requests.ts",
    find: "findObject(state, shares, idName(sourceShareId)) === undefined",
    replace: "dwalletId === ''",
    tests: SHARING,
  },
  {
    name: "a share whose proof the network rejected is accepted",
    file: "src/localnet/contracts/coordinator/dwallets/accept-share.ts",
    find: 'share.state.$kind !== "NetworkVerificationCompleted"',
    replace: "false",
    tests: SHARING,
  },
  {
    name: "an approval of another message completes a user's half",
    file: "src/localnet/contracts/coordinator/signing/sign-with-partial.ts",
    find: "Buffer.compare(Buffer.from(partial.message), Buffer.from(approval.message)) === 0",
    replace: "true",
    tests: FUTURE,
  },
  {
    name: "an approval of another dWallet completes a user's half",
    file: "src/localnet/contracts/coordinator/signing/sign-with-partial.ts",
    find: "partial.dwallet_id === approval.dwallet_id",
    replace: "true",
    tests: FUTURE,
  },
  {
    name: "a user's half that the network rejected is verified",
    file: "src/localnet/contracts/coordinator/signing/future-sign.ts",
    find: 'if (partial.state.$kind !== "NetworkVerificationCompleted")',
    replace: "if (partial.id === '')",
    tests: FUTURE,
  },
  {
    name: "a user's half reserves a presign of another curve",
    file: "src/localnet/contracts/coordinator/signing/take-presign.ts",
    find: "if (session.curve !== dwallet.curve)",
    replace: "if (session.curve < 0)",
    tests: FUTURE,
  },
  {
    name: "a DKG signs with a presign of another curve",
    file: "src/localnet/contracts/coordinator/dwallets/dkg.ts",
    find: "if (presignCurve !== curve)",
    replace: "if (presignCurve < 0)",
    tests: DURING_DKG,
  },
  {
    name: "a signature during a DKG costs nothing more",
    file: "src/localnet/contracts/coordinator/dwallets/dkg.ts",
    find: "    signDuringDkg === undefined\n      ? { curve, signatureAlgorithm: undefined",
    replace: "    curve >= 0\n      ? { curve, signatureAlgorithm: undefined",
    tests: DURING_DKG,
  },
  {
    name: "an older network has no prices for newer calls",
    file: "src/localnet/contracts/coordinator/payment.ts",
    find: " ?? networkPricing().find(isPrice)",
    replace: "",
    tests: OLDER,
  },
  {
    name: "an older network's presigns are refused",
    file: "src/localnet/contracts/coordinator/signing/take-presign.ts",
    find: "(networkKeyId ?? dwalletNetworkKeyId) !== dwalletNetworkKeyId",
    replace: "networkKeyId !== dwalletNetworkKeyId",
    tests: OLDER,
  },
  {
    name: "another cap takes a presign",
    file: "src/localnet/contracts/coordinator/signing/take-presign.ts",
    find: "session.cap_id !== cap.id || session.dwallet_id !== cap.dwallet_id",
    replace: "session.dwallet_id !== cap.dwallet_id",
    tests: OLDER,
  },
  {
    name: "a cap of one dWallet takes a global presign",
    file: "src/localnet/contracts/coordinator/signing/take-presign.ts",
    find: "session.cap_id !== cap.id || session.dwallet_id !== cap.dwallet_id",
    replace: "session.cap_id !== cap.id",
    tests: OLDER,
  },
  {
    name: "a transaction may change the clock",
    file: "src/localnet/fullnode/execution/input-checks.ts",
    find: "object.id === SUI_CLOCK_ID && input.mutable",
    replace: "object.id === ''",
    tests: ["test/component/localnet/fullnode/clock.test.ts"],
  },
  {
    name: "an object is shared after the transaction that created it",
    file: "src/localnet/contracts/framework/framework-functions.ts",
    find: "object.input !== undefined",
    replace: "object.deleted",
    tests: ["test/component/localnet/fullnode/clock.test.ts"],
  },
  {
    name: "a dWallet with a public share waits for an acceptance",
    file: "src/localnet/contracts/coordinator/completion/complete-dkg.ts",
    find: "value.public_user_secret_key_share === null",
    replace: "true",
    tests: SHARING,
  },
];
