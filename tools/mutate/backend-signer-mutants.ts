import type { Mutant } from "./mutant.ts";

const FILE = ["test/component/signer/key-file.test.ts"];
const PRIVATE = ["test/component/signer/private-file.test.ts"];
const KEYS = ["test/unit/signer/keys.test.ts"];
const SIGNING = ["test/unit/signer/signing.test.ts"];
const PAYLOAD = ["test/unit/signer/payload.test.ts"];
const CONFIG = ["test/unit/service/config/signer-config.test.ts"];
const SOCKET = ["test/component/transport/unix-socket.test.ts"];
const CLI = ["test/component/cli/signer-commands.test.ts"];

/** Lines of the signer beside a backend that decide about seeds, money and who may sign. */
export const BACKEND_SIGNER_MUTANTS: readonly Mutant[] = [
  {
    name: "a key is submitted before its seed is written",
    file: "src/signer/keys.ts",
    find: "      await store.add(key).catch(throwUnwritten);",
    replace: "      void store.add(key).catch(() => {});",
    tests: KEYS,
  },
  {
    name: "a resume token is not waited for",
    file: "src/signer/keys.ts",
    find: 'onResumeToken: (token: string) => save({ kind: "creating", resumeToken: token }),',
    replace:
      'onResumeToken: (token: string) => void save({ kind: "creating", resumeToken: token }).catch(() => {}),',
    tests: KEYS,
  },
  {
    name: "an interrupted onboarding begins again instead of continuing",
    file: "src/signer/keys.ts",
    find: 'progress.kind === "creating" ? progress.resumeToken : undefined',
    replace: "undefined",
    tests: KEYS,
  },
  {
    name: "a dead session is tried again for ever",
    file: "src/signer/keys.ts",
    find: 'if (error instanceof TssError && error.resumeToken === undefined) await save({ kind: "creating" });',
    replace: "",
    tests: KEYS,
  },
  {
    name: "concurrent calls with one name begin two onboardings",
    file: "src/signer/keys.ts",
    find: "      if (begun !== undefined) return await begun.key;\n",
    replace: "",
    tests: KEYS,
  },
  {
    name: "a key on another curve is returned for a name",
    file: "src/signer/keys.ts",
    find: "known.curve !== curve",
    replace: "false",
    tests: KEYS,
  },
  {
    name: "the number of keys has no bound",
    file: "src/signer/keys.ts",
    find: "store.list().length >= maxCount",
    replace: "false",
    tests: KEYS,
  },
  {
    name: "two keys have one seed",
    file: "src/signer/keys.ts",
    find: "new Uint8Array(randomBytes(SEED_BYTES))",
    replace: "new Uint8Array(SEED_BYTES)",
    tests: KEYS,
  },
  {
    name: "a write is acknowledged before it is made",
    file: "src/signer/store/file-key-store.ts",
    find: "      await this.#save();\n    } catch (error) {\n      // Nobody may use",
    replace: "      void this.#save().catch(() => {});\n    } catch (error) {\n      // Nobody may use",
    tests: FILE,
  },
  {
    name: "a seed that could not be written stays in memory and is used by the next call",
    file: "src/signer/store/file-key-store.ts",
    find: "      this.#keys.delete(key.name);\n",
    replace: "",
    tests: FILE,
  },
  {
    name: "a key file is opened without the lock",
    file: "src/signer/store/file-key-store.ts",
    find: "`${file}.lock`",
    replace: "`${file}.lock.${Math.random()}`",
    tests: FILE,
  },
  {
    name: "the keys of another process are overwritten",
    file: "src/signer/store/file-key-store.ts",
    find: "    await this.#checkUnchanged();\n",
    replace: "",
    tests: FILE,
  },
  {
    name: "a changed key file makes scrypt take any amount of memory",
    file: "src/signer/store/sealed-file.ts",
    find: "logN > MAX_LOG_N",
    replace: "false",
    tests: FILE,
  },
  {
    name: "a new key file overwrites an existing one",
    file: "src/signer/store/durable-file.ts",
    find: "await link(draft, file);",
    replace: "await rename(draft, file);",
    tests: FILE,
  },
  {
    name: "a key file can be read by others",
    file: "src/signer/store/durable-file.ts",
    find: 'open(draft, "wx", 0o600)',
    replace: 'open(draft, "wx", 0o644)',
    tests: FILE,
  },
  {
    name: "a secret in a file that the group may read is used",
    file: "src/signer/private-file.ts",
    find: ": OF_OTHERS | OF_GROUP;",
    replace: ": OF_OTHERS;",
    tests: PRIVATE,
  },
  {
    name: "a damaged key file is copied as a backup",
    file: "src/cli/signer/key-file-commands.ts",
    find: "  const { keys } = await openKeyFile(sealed, passphrase);",
    replace: "  const keys = [passphrase];",
    tests: CLI,
  },
  {
    name: "the caller's idempotency key does not reach the service",
    file: "src/signer/signing.ts",
    find: "request.idempotencyKey || randomUUID()",
    replace: "randomUUID()",
    tests: SIGNING,
  },
  {
    name: "a failed signature keeps its place for ever",
    file: "src/signer/signing.ts",
    find: "      runningCount -= places;\n",
    replace: "",
    tests: SIGNING,
  },
  {
    name: "two signatures of one call share an idempotency key",
    file: "src/signer/signing.ts",
    find: "      checkDistinct(requests);\n",
    replace: "",
    tests: SIGNING,
  },
  {
    name: "a text of the service shows the signer's API key to a caller",
    file: "src/signer/signer-error.ts",
    find: "new SignerError(redact(error.reason), redact(error.message), {",
    replace: "new SignerError(redact(error.reason), error.message, {",
    tests: SIGNING,
  },
  {
    name: "a refusal of the signer's API key looks like a refusal of the caller",
    file: "src/signer/signer-error.ts",
    find: "code === undefined || isOfSigner ?",
    replace: "code === undefined ?",
    tests: SIGNING,
  },
  {
    name: "a transaction without a chain id is signed",
    file: "src/signer/evm-payload.ts",
    find: 'if (transaction.chainId === undefined) throw wrongField("evm_transaction", "has no chain id (EIP-155)");',
    replace: "",
    tests: PAYLOAD,
  },
  {
    name: "a payload is signed with an algorithm of another curve",
    file: "src/signer/payload.ts",
    find: "          each.curve === key.curve &&\n",
    replace: "",
    tests: PAYLOAD,
  },
  {
    name: "a port of a signer needs no token",
    file: "src/service/config/signer.ts",
    find: 'read.required("SIGNER_TOKEN_FILE", /./,',
    replace: 'read.required("SIGNER_HOST", /./,',
    tests: CONFIG,
  },
  {
    name: "a signer listens in clear text on any address",
    file: "src/service/config/signer.ts",
    find: "if (isPublic(host) && tls === undefined)",
    replace: 'if (isPublic(host) && tls === undefined && host === "")',
    tests: CONFIG,
  },
  {
    name: "the API key travels to another machine in clear text",
    file: "src/service/config/signer.ts",
    find: "  if (isClear) read.fault(",
    replace: '  if (isClear && url === "") read.fault(',
    tests: CONFIG,
  },
  {
    name: "other users may connect to the socket",
    file: "src/transport/connections/unix-socket.ts",
    find: "    chmodSync(made, 0o600);\n",
    replace: "",
    tests: SOCKET,
  },
  {
    name: "the socket of a living process is taken over",
    file: "src/transport/connections/unix-socket.ts",
    find: "  await refuseTaken(file);\n",
    replace: "",
    tests: SOCKET,
  },
  {
    name: "connections of a Unix socket are not counted",
    file: "src/transport/connections/connection-counter.ts",
    find: "if (remoteAddress === undefined) return false;",
    replace: 'if (remoteAddress === undefined) return false;\n      if (remoteAddress === "") return true;',
    tests: SOCKET,
  },
];
