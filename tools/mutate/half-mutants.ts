import type { Mutant } from "./mutant.ts";

const HALF = ["test/isolated/client/crypto/sign-message.test.ts"];
const ECDSA = ["test/crypto/own-ecdsa-message.test.ts"];
const FAULTS = ["test/isolated/client/crypto/own-half-faults.test.ts"];
const WORKERS = ["test/isolated/client/crypto/worker-engine.test.ts"];
const IMPORT = ["test/component/client/crypto/import-message.test.ts"];
const SHARE = ["test/component/client/crypto/encrypted-share.test.ts"];

/** Lines that keep a client's half correct and free of leaks. */
export const HALF_MUTANTS: readonly Mutant[] = [
  {
    name: "a half's nonces do not depend on the message",
    file: "src/client/crypto/derive-sign-randomness.ts",
    find: "      encodeVector(message),\n",
    replace: "",
    tests: HALF,
  },
  {
    name: "a half's nonces do not depend on the hash",
    file: "src/client/crypto/derive-sign-randomness.ts",
    find: "triple.signatureAlgorithmNumber, triple.hashNumber",
    replace: "triple.signatureAlgorithmNumber, 0",
    tests: HALF,
  },
  {
    name: "a proof's nonces do not depend on its transcript",
    file: "src/client/crypto/derive-sign-randomness.ts",
    find: "encodeVector(binding));",
    replace: "encodeVector(NOTHING));",
    tests: HALF,
  },
  {
    name: "masks do not hide the challenge's bits",
    file: "src/client/crypto/prove-evaluation.ts",
    find: "COEFFICIENT_BITS + CHALLENGE_BITS + STATISTICAL_BITS",
    replace: "COEFFICIENT_BITS + STATISTICAL_BITS",
    tests: [...HALF, ...ECDSA],
  },
  {
    name: "a response is computed for a secret that is too long for its mask",
    file: "src/client/crypto/prove-evaluation.ts",
    find: "if (!isInBounds) throw",
    replace: "if (bits < 0) throw",
    tests: HALF,
  },
  {
    name: "coefficients are not blinded",
    file: "src/client/crypto/prove-evaluation.ts",
    find: "RANDOMNESS_BITS) * curve.order,",
    replace: "RANDOMNESS_BITS) * 0n,",
    tests: ECDSA,
  },
  {
    name: "an ECDSA half is returned without its check in the class group",
    file: "src/client/crypto/check-ecdsa-message.ts",
    find: "const isNeutral = isNeutralClass(curve.group, product);",
    replace: "const isNeutral = product.a > 0n;",
    tests: FAULTS,
  },
  {
    name: "an ECDSA half is returned although its ladders stand on another base",
    file: "src/client/crypto/check-ecdsa-message.ts",
    find: "rejectUnless(isBase,",
    replace: "rejectUnless(isBase || true,",
    tests: FAULTS,
  },
  {
    name: "an ECDSA half is returned without its check on the curve",
    file: "src/client/crypto/check-ecdsa-message.ts",
    find: "if (isNeutral && pointSum(curve, combination.points).equals(curve.zero)) return;",
    replace: "if (isNeutral) return;",
    tests: ECDSA,
  },
  {
    name: "a half is checked against the inputs that it was computed with",
    file: "src/client/crypto/create-sign-message.ts",
    find: "  const kept = copyOf(request);",
    replace: "  const kept = used;",
    tests: FAULTS,
  },
  {
    name: "a half is computed with the caller's own inputs, which may change",
    file: "src/client/crypto/create-sign-message.ts",
    find: "  const used = copyOf(request);",
    replace: "  const used = request;",
    tests: FAULTS,
  },
  {
    name: "the numbers of a Schnorr half are not derived again",
    file: "src/client/crypto/create-sign-message.ts",
    find: "isDerivedFrom(randomness, kept) &&",
    replace: "",
    tests: FAULTS,
  },
  {
    name: "the numbers of an ECDSA half are not derived again",
    file: "src/client/crypto/create-ecdsa-message.ts",
    find: "if (!isDerived)",
    replace: "if (isDerived === undefined)",
    tests: FAULTS,
  },
  {
    name: "a ladder that made a wrong half is kept",
    file: "src/client/crypto/create-ecdsa-message.ts",
    find: "    forgetLadders(curve.group.h, key.encryptionKey);\n",
    replace: "",
    tests: FAULTS,
  },
  {
    name: "a half is made with a share that is not the dWallet's",
    file: "src/client/crypto/sign-request.ts",
    find: 'rejectUnless(isOfDwallet, "the share does not belong to the dWallet");',
    replace: "",
    tests: HALF,
  },
  {
    name: "a half is made for a presign of another network key",
    file: "src/client/crypto/sign-request.ts",
    find: 'rejectUnless(equalBytes(presign.commitment, key.commitment), "the presign belongs to another network key");',
    replace: "",
    tests: HALF,
  },
  {
    name: "a half is made for a presign of another imported key",
    file: "src/client/crypto/sign-request.ts",
    find: 'rejectUnless(presign.publicKey.equals(publicKey), "the presign belongs to another dWallet");',
    replace: "",
    tests: IMPORT,
  },
  {
    name: "a share is decrypted without its proof",
    file: "src/client/crypto/decrypt-share.ts",
    find: "  verifyEncryptedShare(curve, encryptionKey, publicShare, encrypted);\n",
    replace: "",
    tests: SHARE,
  },
  {
    name: "the event loop waits for a whole half",
    file: "src/client/crypto/engines/plain-calls.ts",
    find: "performance.now() < end",
    replace: "end > 0",
    tests: HALF,
  },
  {
    name: "a half is returned although two workers made different ones",
    file: "src/client/crypto/engines/thread-call.ts",
    find: "    if (!areEqual(outputs)) {",
    replace: "    if (outputs.length > 2) {",
    tests: WORKERS,
  },
  {
    name: "a worker sends its own part of a ciphertext as the other's",
    file: "src/client/crypto/part-split.ts",
    find: "return wholeOf(part === 0 ? [own[0], other.form] : [other.form, own[1]]);",
    replace: "return wholeOf([own[part], other.form]);",
    tests: WORKERS,
  },
  {
    name: "a worker keeps the share after its call",
    file: "src/client/crypto/engines/plain-calls.ts",
    find: "  } finally {\n    wipeSecrets(input);\n  }",
    replace: "  } finally {\n  }",
    tests: ["test/component/client/crypto/serve-engine.test.ts"],
  },
];
