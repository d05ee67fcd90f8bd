import type { Mutant } from "./mutant.ts";

const CREATE = ["test/component/service/onboarding/create-dwallet.test.ts"];
const UNSIGNED = ["test/component/service/onboarding/bad-signature.test.ts"];

const ADOPTION = ["test/component/service/onboarding/adopt-dwallet.test.ts"];
const SHARING = ["test/component/service/onboarding/sharing.test.ts"];
const EXIT_DRILL = ["test/component/service/onboarding/exit-drill.test.ts"];

/** Lines that decide who owns a dWallet and a key, and what onboarding may cost the service. */
export const ONBOARDING_MUTANTS: readonly Mutant[] = [
  {
    name: "a project creates dWallets beyond its quota",
    file: "src/service/onboarding/create-dwallet.ts",
    find: '    await checkQuota(db, "dwallet", caller.projectId, dkgsPerDay);\n',
    replace: "",
    tests: CREATE,
  },
  {
    name: "a project is answered with another project's session",
    file: "src/service/onboarding/create-dwallet.ts",
    find: "const isOwn = isWithinReach(caller, row);",
    replace: "const isOwn = row !== undefined;",
    tests: CREATE,
  },
  {
    name: "a session is returned for another request",
    file: "src/service/onboarding/create-dwallet.ts",
    find: "|| !equalBytes(row.requestHash, hash)) {",
    replace: "|| hash.length === 0) {",
    tests: CREATE,
  },
  {
    name: "a project creates one dWallet more than its quota",
    file: "src/service/onboarding/check-quota.ts",
    find: "), 0) > ${maxCount} AS excess",
    replace: "), 0) > ${maxCount} + 1 AS excess",
    tests: CREATE,
  },
  {
    name: "a registration that the chain refuses is retried forever",
    file: "src/service/onboarding/encryption-keys.ts",
    find: "tries < TRIES_PER_DAY",
    replace: "tries < 1_000",
    tests: ["test/component/service/onboarding/registration-tries.test.ts"],
  },
  {
    name: "an attempt to register does not count against the quota",
    file: "src/service/onboarding/encryption-keys.ts",
    find: '    if (!isRegistered) await checkQuota(db, "encryption_key", projectId, deps.dkgsPerDay);\n',
    replace: "",
    tests: ["test/component/service/onboarding/registration-tries.test.ts"],
  },
  {
    name: "a key that its signer did not sign is registered",
    file: "src/service/onboarding/encryption-keys.ts",
    find: "if (!verifyUserSignature(signerPublicKey, encryptionKey, signature)) {",
    replace: "if (signature.length === 0) {",
    tests: UNSIGNED,
  },
  {
    name: "a dWallet is accepted without its user's signature",
    file: "src/service/onboarding/accept-dwallet.ts",
    find: "if (!verifyUserSignature(row.signerPublicKey, row.publicOutput, request.userOutputSignature)) {",
    replace: "if (request.userOutputSignature.length === 0) {",
    tests: UNSIGNED,
  },
  {
    name: "another dWallet's state is written",
    file: "src/service/onboarding/dwallet-session.ts",
    find: "row.objectId === dwallet.id &&",
    replace: "",
    tests: ["test/component/service/onboarding/dwallet-session.test.ts"],
  },
  {
    name: "a consent is taken for another one with another recipient",
    file: "src/service/onboarding/custody/consents.ts",
    find: "    row.recipient === (consent.recipient ?? null) &&\n",
    replace: "",
    tests: ["test/race/exits.test.ts"],
  },
  {
    name: "a project's key reports the exit of another project's dWallet",
    file: "src/service/onboarding/exit-drill.ts",
    find: "${withinReach(caller, sql`d`)}",
    replace: "${withinReach(caller, sql`d`)} IS NOT NULL",
    tests: EXIT_DRILL,
  },
  {
    name: "an older report of an exit drill replaces a newer one",
    file: "src/service/onboarding/exit-drill.ts",
    find: "OR d.exit_drill_at < report.at",
    replace: "OR d.exit_drill_at <> report.at",
    tests: EXIT_DRILL,
  },
  {
    name: "a report from a clock that is ahead outlives the later ones",
    file: "src/service/onboarding/exit-drill.ts",
    find: "SELECT LEAST(${at}::timestamptz(3), now()::timestamptz(3)) AS at",
    replace: "SELECT ${at}::timestamptz(3) AS at",
    tests: EXIT_DRILL,
  },
  {
    name: "a dWallet is adopted without its owner's consent",
    file: "src/service/onboarding/adopt-dwallet.ts",
    find: "if (!verifyUserSignature(key.signerPublicKey, adoptionConsentBytes(consent), request.signature))",
    replace: "if (request.signature.length === 0)",
    tests: ADOPTION,
  },
  {
    name: "a dWallet is adopted that the Treasury holds for another owner",
    file: "src/service/onboarding/adopt-dwallet.ts",
    find: "if (held.owner !== key.signerAddress)",
    replace: "if (held.owner === '')",
    tests: ADOPTION,
  },
  {
    name: "a dWallet is adopted while its own DKG may be under way",
    file: "src/service/onboarding/adopt-dwallet.ts",
    find: "if (requestedCount === 0) return;",
    replace: "if (requestedCount >= 0) return;",
    tests: ADOPTION,
  },
  {
    name: "a dWallet is shared without its owner's consent",
    file: "src/service/onboarding/sharing/share-dwallet.ts",
    find: "if (!verifyUserSignature(dwallet.signerPublicKey, shareConsentBytes(consent), signature))",
    replace: "if (signature.length === 0)",
    tests: SHARING,
  },
  {
    name: "an owner's old consent brings a removed holder back",
    file: "prisma/migrations/20261128050000_shares/migration.sql",
    find: 'ON "dwallet_share" ("dwallet_id", "share_hash") WHERE "state" <> \'Failed\'',
    replace:
      'ON "dwallet_share" ("dwallet_id", "share_hash") WHERE "state" <> \'Failed\' AND "state" <> \'Removed\'',
    tests: SHARING,
  },
  {
    name: "an ended share hides the live one of a holder",
    file: "src/service/onboarding/sharing/share-row.ts",
    find: "ORDER BY ${isLive} DESC, s.id DESC",
    replace: "ORDER BY s.id DESC",
    tests: SHARING,
  },
  {
    name: "a removed holder may still sign",
    file: "src/service/onboarding/sharing/holders.ts",
    find: "SET holder_users = array_remove(holder_users, ${userReference}::text), updated_at",
    replace: "SET holder_users = holder_users, updated_at",
    tests: SHARING,
  },
  {
    name: "a frozen holder may still sign",
    file: "src/service/users/reach.ts",
    find: "AND u.frozen_at IS NULL AND u.deleted_at IS NULL) END",
    replace: "AND u.deleted_at IS NULL) END",
    tests: SHARING,
  },
];
