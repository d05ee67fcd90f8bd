/** The columns of `audit_seal s` as an AuditSeal has them. */
export const SEAL_COLUMNS = `s.number, s.first_sequence AS "firstSequence", s.last_sequence AS "lastSequence",
  s.created_at AS "createdAt", s.merkle_root AS "merkleRoot", s.chain_hash AS "chainHash",
  s.previous_seal_hash AS "previousSealHash", s.seal_hash AS "sealHash", s.public_key AS "publicKey", s.signature`;
