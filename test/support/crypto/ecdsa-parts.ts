/**
 * One place in each part of an ECDSA sign message, by the layout: 3 bytes of header, six points of 34, two ciphertexts
 * of 516, then pi_k and pi_alpha 100 each, pi_beta 1872, pi_kx 167, pi_R 134, pi_RB 234, pi_ctA and pi_ctab 1649 each.
 */
export const ECDSA_PARTS: readonly (readonly [string, number])[] = [
  ["R", 3 + 20],
  ["R_B", 37 + 20],
  ["C_k", 71 + 20],
  ["C_alpha", 105 + 20],
  ["C_beta", 139 + 20],
  ["C_kx", 173 + 20],
  ["ct_A", 207 + 40],
  ["ct_ab", 723 + 300],
  ["pi_k: mask", 1239 + 20],
  ["pi_k: response", 1239 + 90],
  ["pi_alpha: response", 1339 + 60],
  ["pi_beta: mask", 1439 + 20],
  ["pi_beta: response", 1439 + 544 + 500],
  ["pi_beta: challenge", 1439 + 544 + 1056 + 1],
  ["pi_kx: first response", 3311 + 68 + 20],
  ["pi_kx: last response", 3311 + 68 + 90],
  ["pi_R: mask", 3478 + 50],
  ["pi_R: response", 3478 + 68 + 20],
  ["pi_RB: response", 3612 + 102 + 60],
  ["pi_ctA: mask", 3846 + 40],
  ["pi_ctA: coefficient", 3846 + 584 + 20],
  ["pi_ctA: commitment's response", 3846 + 584 + 772 + 20],
  ["pi_ctA: randomness", 3846 + 1649 - 150],
  ["pi_ctab: mask", 5495 + 300],
  ["pi_ctab: coefficient", 5495 + 584 + 400],
  ["pi_ctab: commitment's response", 5495 + 584 + 772 + 50],
  ["pi_ctab: randomness", 5495 + 1649 - 190],
];
