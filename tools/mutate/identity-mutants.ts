import type { Mutant } from "./mutant.ts";

const TOKENS = ["test/unit/service/access/identity/verify-id-token.test.ts"];
const KEY_SETS = ["test/unit/service/access/identity/key-sets.test.ts"];
const PROOFS = ["test/unit/service/access/dpop/verify-proof.test.ts"];
const ADDRESSES = ["test/unit/service/access/identity/public-address.test.ts"];
const verifyIdToken = "src/service/access/identity/verify-id-token.ts";
const verifyProof = "src/service/access/dpop/verify-proof.ts";

/** Lines that decide which ID tokens and proofs are accepted. */
export const IDENTITY_MUTANTS: readonly Mutant[] = [
  {
    name: "the sessions of a removed provider continue",
    file: "src/service/access/identity/identity-providers.ts",
    find: "  await sessions.end(database, origin, provider.id);\n",
    replace: "",
    tests: ["test/component/service/access/identity/exchange-token.test.ts"],
  },
  {
    name: "the session of a removed provider is accepted",
    file: "src/service/access/stored-sessions.ts",
    find: " OR r.id IS NOT NULL",
    replace: "",
    tests: ["test/component/service/access/identity/exchange-token.test.ts"],
  },
  {
    name: "exchanges go on while the removal of their provider waits",
    file: "src/service/users/sessions.ts",
    find: "\n          AND NOT EXISTS (SELECT FROM removed_identity_provider WHERE id = ${id}::uuid) FOR KEY SHARE",
    replace: " FOR KEY SHARE",
    tests: ["test/race/removed-providers.test.ts"],
  },
  {
    name: "the sessions of a removed provider take the room of the project's users",
    file: "src/service/users/sessions.ts",
    find: "          - (SELECT count(*) FROM removed",
    replace: "          - 0 * (SELECT count(*) FROM removed",
    tests: ["test/race/removed-providers.test.ts"],
  },
  {
    name: "the rows of removed providers stay for ever",
    file: "src/service/users/session-sweep.ts",
    find: "      await sweepRemovedProviders(database);\n",
    replace: "",
    tests: ["test/component/service/users/session-sweep.test.ts"],
  },
  {
    name: "the tokens of a provider whose removal was interrupted are accepted again",
    file: "src/service/users/session-sweep.ts",
    find: "\n          AND NOT EXISTS (SELECT FROM identity_provider i WHERE i.id = r.id)",
    replace: "",
    tests: ["test/race/removed-providers.test.ts"],
  },
  {
    name: "an exchange whose token was verified creates a session of a removed provider",
    file: "src/service/users/sessions.ts",
    find: "  if (identityProviderId !== null) await lockProvider(db, identityProviderId);\n",
    replace: "",
    tests: ["test/race/removed-providers.test.ts"],
  },
  {
    name: "streams of a removed provider's sessions wait for the next check",
    file: "src/service/access/stream-leases.ts",
    find: "  unsubscribe.push(signals?.subscribeKind(IDENTITY_PROVIDER_TOPICS, () => void sweep()));\n",
    replace: "",
    tests: ["test/component/service/access/stream-leases.test.ts"],
  },
  {
    name: "an ID token of any issuer is accepted if a key of the provider signed it",
    file: verifyIdToken,
    find: "      issuer,\n      audience:",
    replace: "      audience:",
    tests: TOKENS,
  },
  {
    name: "a token for several parties is accepted from any of them",
    file: verifyIdToken,
    find: "azp === undefined ? audiences.length > 1 : !isAudience(azp, provider)",
    replace: "azp !== undefined && !isAudience(azp, provider)",
    tests: TOKENS,
  },
  {
    name: "any algorithm that the key fits is accepted",
    file: verifyIdToken,
    find: "      algorithms: [...algorithms],\n",
    replace: "",
    tests: TOKENS,
  },
  {
    name: "a token that its issuer made long ago is accepted",
    file: verifyIdToken,
    find: "      maxTokenAge: tokenMaxAgeSeconds,\n",
    replace: "",
    tests: TOKENS,
  },
  {
    name: "an access token or a proof is accepted as an ID token",
    file: verifyIdToken,
    find: 'if (typ !== undefined && (typeof typ !== "string" ||',
    replace: 'if (typ === 0 && (typeof typ !== "string" ||',
    tests: TOKENS,
  },
  {
    name: "an unallocated IPv6 address counts as public",
    file: "src/service/access/identity/public-address.ts",
    find: 'address.match(ipaddr.parseCIDR("2000::/3"))',
    replace: "true",
    tests: ADDRESSES,
  },
  {
    name: "each unknown `kid` causes a download",
    file: "src/service/access/identity/key-sets.ts",
    find: "if (now() - entry.triedAtMs < RETRY_MS) return Promise.resolve();",
    replace: "",
    tests: KEY_SETS,
  },
  {
    name: "an e-mail address that the provider has not verified names a user",
    file: verifyIdToken,
    find: `String(claims["email_verified"]) !== "true"`,
    replace: `claims["email_verified"] === false`,
    tests: TOKENS,
  },
  {
    name: "a provider that is added again uses the keys of the deleted one",
    file: "src/service/access/identity/key-sets.ts",
    find: "const entry = entryOf(id);",
    replace: "const entry = entryOf(url);",
    tests: KEY_SETS,
  },
  {
    name: "the last keys of a provider are used for ever while it is down",
    file: "src/service/access/identity/key-sets.ts",
    find: "return usable(entry, STALE_MAX_MS)?.find;",
    replace: "return entry.known?.find;",
    tests: KEY_SETS,
  },
  {
    name: "a proof of any key is accepted",
    file: verifyProof,
    find: "if (thumbprint !== undefined && actual !== thumbprint)",
    replace: "if (thumbprint === '')",
    tests: PROOFS,
  },
  {
    name: "a proof for another method is accepted",
    file: verifyProof,
    find: `if (claims["htm"] !== method)`,
    replace: `if (claims["htm"] === "")`,
    tests: PROOFS,
  },
  {
    name: "a proof for another token is accepted",
    file: verifyProof,
    find: `if (claims["ath"] !== (token === undefined ? undefined : hashOf(token)))`,
    replace: `if (claims["ath"] === "")`,
    tests: PROOFS,
  },
  {
    name: "a proof counts more than once",
    file: verifyProof,
    find: "if (!(await seenProofs.isFirst(`${actual}.${claims.jti}`)))",
    replace: "if (claims.jti === '')",
    tests: PROOFS,
  },
  {
    name: "a proof needs no nonce",
    file: verifyProof,
    find: "if (isNonceNeeded || nonce !== undefined) {",
    replace: "if (nonce !== undefined) {",
    tests: PROOFS,
  },
  {
    name: "a session of a device needs no proof",
    file: "src/service/access/access-gate.ts",
    find: 'return caller.kind === "project" && caller.session?.proofKeyThumbprint !== undefined;',
    replace: "return caller.kind === 'project' && caller.network === '';",
    tests: ["test/component/service/access/dpop/bound-session.test.ts"],
  },
  {
    name: "a device's proofs are noted beyond its rate",
    file: verifyProof,
    find: '    await beforeNoting?.();\n    if (!(await seenProofs.isFirst(`${actual}.${claims.jti}`)))\n      throw proofInvalid("replayed", "the proof was used before");\n',
    replace:
      "    if (!(await seenProofs.isFirst(`${actual}.${claims.jti}`)))\n      throw proofInvalid('replayed', 'the proof was used before');\n    await beforeNoting?.();\n",
    tests: ["test/component/service/access/dpop/bound-session.test.ts"],
  },
  {
    name: "a download whose connection closes without a reply never ends",
    file: "src/service/access/identity/fetch-key-set.ts",
    find: 'request.on("close", () =>',
    replace: 'request.on("never", () =>',
    tests: ["test/component/service/access/identity/fetch-key-set.test.ts"],
  },
];
