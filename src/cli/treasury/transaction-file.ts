import { readFile, stat } from "node:fs/promises";
import { fromBase64 } from "@mysten/sui/utils";
import { WrongValue } from "../option.ts";
import { ForeignBytesError } from "./foreign-bytes-error.ts";

/** Reads the bytes of a transaction from a file, in base64. */
export async function readTransactionFile(file: string): Promise<Uint8Array> {
  if ((await stat(file)).size > MAX_CHARACTERS)
    throw new ForeignBytesError(`${file} is too long for a transaction`);
  const text = (await readFile(file, "utf8")).trim();
  if (!BASE64.test(text))
    throw new ForeignBytesError(`${file} must contain the bytes of a transaction in base64`);
  return fromBase64(text);
}

/** Parses signatures in base64, separated by commas. */
export function signatureList(text: string): string[] {
  const all = text.split(",").map((one) => one.trim());
  if (all.some((one) => !BASE64.test(one)))
    throw new WrongValue("takes signatures in base64, separated by commas");
  return all;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** A transaction of Sui has at most 128 KiB. */
const MAX_CHARACTERS = 200_000;
