import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, test } from "vitest";
import { hexToBytes, MalformedBytesError } from "../../../src/protocol/bytes.ts";
import {
  decodeUserShare,
  parseDWalletOutput,
  publicKeyFromDWalletOutput,
  publicKeyFromUserOutput,
  userPublicOutputFromDWalletOutput,
} from "../../../src/protocol/dwallet-output.ts";
import { curveGroup } from "../../../src/protocol/signatures/curve-group.ts";
import { flipBit, vectorOf } from "../../support/crypto/signature-vectors.ts";

describe.each(["Taproot", "ECDSASecp256r1", "EdDSA", "Schnorrkel"] as const)(
  "the output of %s's curve",
  (algorithm) => {
    const { triple, dwalletOutput, userPublicOutput, publicKey, userSecretKeyShareHex } = vectorOf(algorithm);
    const { curve } = triple;
    const share = hexToBytes(userSecretKeyShareHex);

    test("has the public key and the user's own public output, byte for byte", () => {
      expect(bytesToHex(publicKeyFromDWalletOutput(curve, dwalletOutput))).toBe(bytesToHex(publicKey));
      expect(bytesToHex(userPublicOutputFromDWalletOutput(curve, dwalletOutput))).toBe(
        bytesToHex(userPublicOutput),
      );
      expect(bytesToHex(publicKeyFromUserOutput(curve, userPublicOutput))).toBe(bytesToHex(publicKey));
    });

    test("holds the public half of the user's share", () => {
      const { userPublicShare } = parseDWalletOutput(curve, dwalletOutput);
      const publicShare = curveGroup(curve).base.multiply(decodeUserShare(curve, share));
      expect(publicShare.equals(userPublicShare)).toBe(true);
    });

    test("is malformed if its shares do not add up to its key", () => {
      const { networkPublicShare } = parseDWalletOutput(curve, dwalletOutput);
      const text = bytesToHex(dwalletOutput);
      const doubled = bytesToHex(networkPublicShare.add(networkPublicShare).toBytes());
      const forged = hexToBytes(text.replace(bytesToHex(networkPublicShare.toBytes()), doubled));
      expect(() => parseDWalletOutput(curve, forged)).toThrow("do not add up");
    });

    test("is malformed if it is cut, lengthened or of another version", () => {
      for (const bytes of [
        dwalletOutput.subarray(0, -1),
        Uint8Array.of(...dwalletOutput, 0),
        flipBit(dwalletOutput, 0),
        new Uint8Array(),
      ]) {
        expect(() => parseDWalletOutput(curve, bytes)).toThrow(MalformedBytesError);
      }
    });

    test("malformed shares are refused without showing their bytes", () => {
      for (const bytes of [share.subarray(1), flipBit(share, 0), new Uint8Array(share.length)]) {
        const refused = (): bigint => decodeUserShare(curve, bytes);
        expect(refused).toThrow(MalformedBytesError);
        expect(refused).not.toThrow(userSecretKeyShareHex.slice(8, 24));
      }
    });
  },
);
