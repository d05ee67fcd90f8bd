import type { Mutant } from "./mutant.ts";

const TRUST = ["test/unit/client/sdk/share-trust.test.ts"];
const RECOVERY = ["test/unit/client/sdk/recovery.test.ts"];
const ONBOARD = ["test/unit/client/sdk/onboard.test.ts"];
const DERIVE = ["test/unit/client/crypto/derive-user-share.test.ts"];

/** Lines that keep a client from accepting a share, key or output that is not its own user's. */
export const SHARE_MUTANTS: readonly Mutant[] = [
  {
    name: "a share that does not lead to the output is accepted as the seed's",
    file: "src/client/sdk/actions/seed-share.ts",
    find: "isOwn = await context.engine.isOutputOfShare({ ...claim, signal });",
    replace: "isOwn = true;",
    tests: TRUST,
  },
  {
    name: "the session is not read from the chain",
    file: "src/client/sdk/actions/seed-share.ts",
    find: "yield* context.chainSessions(action, dwallet, encryptedUserSecretKeyShareId);",
    replace: "",
    tests: TRUST,
  },
  {
    name: "a recovery does not read the session from the chain",
    file: "src/client/sdk/actions/seed-share.ts",
    find: "if (asked !== undefined) yield* context.chainSessions(action, dwallet, asked);",
    replace: "",
    tests: RECOVERY,
  },
  {
    name: "the first fullnode that names a session hides what the others name",
    file: "src/client/sdk/chain/chain-session.ts",
    find: "      yield digest;",
    replace: "      yield digest;\n      return;",
    tests: ["test/unit/client/sdk/chain-hints.test.ts"],
  },
  {
    name: "a recovery needs the service",
    file: "src/client/sdk/actions/ask-service.ts",
    find: "    return undefined;",
    replace: "    throw error;",
    tests: RECOVERY,
  },
  {
    name: "a share of another owner counts as the user's",
    file: "src/client/sdk/actions/own-shares.ts",
    find: "&& owner === signerAddress",
    replace: "",
    tests: RECOVERY,
  },
  {
    name: "a share of another dWallet counts as the user's",
    file: "src/client/sdk/actions/own-shares.ts",
    find: "dwalletId === id &&",
    replace: "",
    tests: RECOVERY,
  },
  {
    name: "a share is recovered from the service before the chain",
    file: "src/client/sdk/actions/recover-within.ts",
    find: "encryptedUserSecretKeyShareId, isChainFirst: true };",
    replace: "encryptedUserSecretKeyShareId };",
    tests: RECOVERY,
  },
  {
    name: "a missing dWallet needs the service's word",
    file: "src/client/sdk/actions/recover-within.ts",
    find: 'const dwallet = await readActiveDWallet(context, action, dwalletId, curve, askIfReachable);\n  action.stage("parameters");',
    replace:
      'const dwallet = await readActiveDWallet(context, action, dwalletId, curve);\n  action.stage("parameters");',
    tests: RECOVERY,
  },
  {
    name: "the network's half of the output is not compared",
    file: "src/protocol/proofs/network-key-parts.ts",
    find: "return combined.add(scaleBase(curve, constant));",
    replace: "return combined;",
    tests: TRUST,
  },
  {
    name: "only a part of the user's public output is compared",
    file: "src/client/crypto/decrypt-share.ts",
    find: "return equalBytes(own, userPublicOutputFromDWalletOutput(curveName, dwalletOutput));",
    replace:
      "return publicShare.equals(parseDWalletOutput(curveName, dwalletOutput).userPublicShare as never);",
    tests: TRUST,
  },
  {
    name: "onboard skips the comparison of the outputs",
    file: "src/client/sdk/actions/onboard-within.ts",
    find: "if (!equalBytes(implied, prepared.userPublicOutput)) {",
    replace: "if (implied.length === 0) {",
    tests: [...ONBOARD, ...TRUST],
  },
  {
    name: "a share that does not lead to the output is accepted",
    file: "src/client/sdk/actions/onboard-within.ts",
    find: "if (!(await engine.isOutputOfShare(claim))) {",
    replace: "if (publicOutput.length === 0) {",
    tests: ONBOARD,
  },
  {
    name: "openShare does not compare the output",
    file: "src/client/sdk/actions/recover-within.ts",
    find: "isFit = await context.engine.isOutputOfShare({ ...claim, signal: action.signal });",
    replace: "isFit = true;",
    tests: TRUST,
  },
  {
    name: "openShare does not require the signer's own signature",
    file: "src/client/sdk/actions/recover-within.ts",
    find: "!verifyEd25519(keys.signerPublicKey, publicOutput, state.userOutputSignature)",
    replace: "state.userOutputSignature.length === 0",
    tests: TRUST,
  },
  {
    name: "openShare accepts a share without a signature",
    file: "src/client/sdk/actions/recover-within.ts",
    find: 'state.kind !== "KeyHolderSigned" ||',
    replace: 'state.kind === "KeyHolderSigned" &&',
    tests: TRUST,
  },
  {
    name: "openShare accepts a share that is encrypted to another signer",
    file: "src/client/sdk/actions/recover-within.ts",
    find: "encrypted.encryptionKeyAddress !== keys.signerAddress",
    replace: "false",
    tests: TRUST,
  },
  {
    name: "openShare accepts another dWallet's share",
    file: "src/client/sdk/actions/recover-within.ts",
    find: "encrypted.dwalletId !== dwallet.id ||",
    replace: "",
    tests: TRUST,
  },
  {
    name: "the client accepts a key that was registered for another signer",
    file: "src/client/sdk/actions/onboard-within.ts",
    find: "if (registered.signerAddress !== keys.signerAddress) {",
    replace: 'if (registered.signerAddress === "") {',
    tests: TRUST,
  },
  {
    name: "the service accepts a key that was registered for another signer",
    file: "src/service/onboarding/encryption-keys.ts",
    find: "onChain.signerAddress === key.signerAddress &&",
    replace: "",
    tests: ["test/component/service/onboarding/other-signer.test.ts"],
  },
  {
    name: "a dWallet is made for another signer than the encryption key's",
    file: "src/service/onboarding/create-dwallet.ts",
    find: "if (!equalBytes(key.signerPublicKey, request.signerPublicKey)) {",
    replace: "if (request.signerPublicKey.length === 0) {",
    tests: ["test/component/service/onboarding/create-dwallet.test.ts"],
  },
  {
    name: "another dWallet from a fullnode is accepted as the requested one",
    file: "src/client/sdk/chain/read-dwallet.ts",
    find: "if (dwallet.id === dwalletId) return dwallet;",
    replace: "if (dwalletId.length > 0) return dwallet;",
    tests: TRUST,
  },
  {
    name: "sign accepts a given share that does not match",
    file: "src/client/sdk/actions/recover-within.ts",
    find: "!(await fits(context.engine, claim))",
    replace: "parameters.length === 0",
    tests: TRUST,
  },
  {
    name: "the share does not depend on the network key",
    file: "src/client/crypto/derive-user-share.ts",
    find: "hexToBytes(networkEncryptionKeyId.slice(2)),",
    replace: "new Uint8Array(32),",
    tests: DERIVE,
  },
];
