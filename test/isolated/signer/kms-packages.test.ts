import { expect, it, vi } from "vitest";
import { awsKms } from "../../../src/signer/seals/aws-kms.ts";
import { gcpKms } from "../../../src/signer/seals/gcp-kms.ts";

vi.mock("@aws-sdk/client-kms", () => {
  throw new Error("Cannot find package");
});
vi.mock("google-auth-library", () => {
  throw new Error("Cannot find package");
});

it.each([
  ["@aws-sdk/client-kms", () => awsKms("alias/signer")],
  ["google-auth-library", () => gcpKms("projects/p/locations/l/keyRings/r/cryptoKeys/k")],
])("without the package %s, the error says what to install", async (name, open) => {
  await expect(open()).rejects.toThrow(`needs the package ${name}: install it`);
});
