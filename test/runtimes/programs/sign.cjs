/** Signs the settings' message. Returns the line that the runner looks for. */
module.exports = async (createClient, settings, options = {}) => {
  const { baseUrl, apiKey, fullnodeUrl, dwalletId, sessionDigestHex, seedHex, messageHex } = settings;
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => Number.parseInt(pair, 16));
  const startedAt = {};
  const client = createClient({ baseUrl, apiKey, fullnodeUrl, network: "localnet", ...options });
  const { signature } = await client.sign(
    {
      ...{ seed: bytes(seedHex), dwalletId, sessionDigestHex, message: bytes(messageHex) },
      ...{ curve: "SECP256K1", signatureAlgorithm: "ECDSASecp256k1", hashScheme: "KECCAK256" },
    },
    {
      onProgress(stage) {
        startedAt[stage] = Date.now();
      },
    },
  );
  const signatureHex = Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return JSON.stringify({ signatureHex, halfMs: startedAt.submit - startedAt.compute });
};
