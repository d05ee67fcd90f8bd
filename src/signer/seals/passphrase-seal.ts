import { randomBytes, scrypt } from "node:crypto";
import { type KeySeal, SEAL_KEY_BYTES, SealedFileError, type SealKey } from "../store/sealed-file.ts";

/**
 * Derives the key of a store from a passphrase with scrypt. Throws for a new store if the passphrase is too short to
 * protect seeds.
 *
 * @param logN the logarithm of scrypt's N for a new store. Default 17
 */
export function passphraseSeal(passphrase: string, logN: number = DEFAULT_LOG_N): KeySeal {
  return {
    async newKey() {
      if ([...passphrase].length < LEAST_CHARACTERS)
        throw new Error(`the passphrase must have ${LEAST_CHARACTERS} characters or more`);
      return await derive(passphrase, logN, new Uint8Array(randomBytes(SALT_BYTES)));
    },
    async openKey(head) {
      if (head.kind !== "passphrase")
        throw new SealedFileError(
          `the key of the file is wrapped by ${head.by}, and SIGNER_SEAL is passphrase`,
        );
      if (head.logN < 1 || head.logN > MAX_LOG_N)
        throw new SealedFileError("the file names an unknown cost of scrypt");
      return await derive(passphrase, head.logN, head.salt);
    },
  };
}

const LEAST_CHARACTERS = 16;
const SALT_BYTES = 32;
/** scrypt's N = 2^17 with r = 8 and p = 1 takes about half a second and 128 MiB for each guess of the passphrase. */
const DEFAULT_LOG_N = 17;
/** A changed head must not make the signer allocate more than 1 GiB. */
const MAX_LOG_N = 20;
const BLOCK_SIZE = 8;

function derive(passphrase: string, logN: number, salt: Uint8Array): Promise<SealKey> {
  const N = 2 ** logN;
  const options = { N, r: BLOCK_SIZE, p: 1, maxmem: 2 * 128 * N * BLOCK_SIZE };
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFC"), salt, SEAL_KEY_BYTES, options, (error, key) => {
      if (error === null) resolve({ head: { kind: "passphrase", logN, salt }, key: new Uint8Array(key) });
      else reject(error);
    });
  });
}
