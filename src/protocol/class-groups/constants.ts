/**
 * The network's class groups, one per curve order q, at 112 bits of security: D = -p*q^3 with a prime p, and h, a
 * generator of the subgroup that contains encryption keys and randomisers (CL15: Castagnos and Laguillaumie,
 * "Linearly homomorphic encryption from DDH"; BICYCL: Bouvier et al., section 3). The protocol fixes them. The values
 * come from the protocol public parameters that ika-wasm 0.2.1 derives, where they are the same for every network key.
 * Curve25519 and Ristretto have the same order and therefore the same group.
 */
export interface ClassGroupConstants {
  /** The order of the curve, and of the plaintext space. */
  readonly q: bigint;
  readonly discriminant: bigint;
  readonly h: { readonly a: bigint; readonly b: bigint };
}

/** SECP256K1. */
export const SECP256K1_CONSTANTS: ClassGroupConstants = {
  q: hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"),
  discriminant: -hex(
    "d2bb1f3c5dc9f51f383756e9d0464474daa2a8e306e8d8f6dd3d072d937b8583192a5d837df6b7e478f72ba256b243ea" +
      "7ad6e74cf62cd8b9a753682f98273f0b277af5f07e607c23454f5439238f9c404ab787a97c1b8a0b4b1abe6506bc1530" +
      "264c191100a0e692d0b2b570ec84d0425cc9ec6e996e1799e62da2c3a5c0ed2fc9cd15ca04148e7828e799ca0014f637" +
      "acd1c474dbe5f2315d805b35613e90d4efeba60a843ff584e31cf85119bf729bb2b13123ec31c9b76f548430e20231e3" +
      "5764f0f7b43d2980fbdd47cde100e63e577ae49e3060a4fe430961340e89676c588172e597e8d211f",
  ),
  h: {
    a: hex(
      "8dd9cf7c0ee35d25eac6a3b35341f51865e1c9a9f0dbddf82fb32ac6bd69d96fb3f6a24d51d8a3693d8cf5d15911f39f" +
        "d3bf4840f4e082cfaeec6ac5798206cda2ebce4d5ed518a0cd374248cf390ae72b3d8dc24180ac8ee88ee9a52ff23b79" +
        "0587e9c64df5c16e852529a81e29f67a0b2791ec",
    ),
    b: -hex(
      "3e7d97c5f1fa0001446b03675cc6803b5900ffb1917375e28c723357b19006da78dbbbf74f6ccec52699c22e04e83d30" +
        "a461d1afbff8ddc3489973275192d16e01371197772b8d92a01af053b2f58c589edbd63074018d5399d5f8ff67bacfe6" +
        "5f458611366343c4239d8c6ec02fc69ade16a361",
    ),
  },
};

/** SECP256R1. */
export const SECP256R1_CONSTANTS: ClassGroupConstants = {
  q: hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
  discriminant: -hex(
    "f101834ff854601dee8cc8cc7bee3a01ea08a8fcc5d25034017e9ec1fa11bc2fdc09dba9c04717e13d57512e54fac67f" +
      "f20fffc9abc3e33c46f76ccca3d277293f4f8c82dd3ea667a58e1e2d7193c7626fd0b66f73e4d1eb8501b227ff67c91b" +
      "2f3db879738d957ec3a1930edb285baf5e011741f193a9585b68df74d57b7c0a9792b192fd14a3fdf5a06862586cefca" +
      "27f1188ee0c59071b62819e7af3feb2f3857dbf846094823cc68ab7e0959f57833a729cf93810952f9fa72181c3882e1" +
      "f2b3cc1e006f5b4e4e94e099dd0a7ced3e3cd552cda5703004deae792aee549b7225de80a8d366a97",
  ),
  h: {
    a: hex(
      "1f937056a9e4da0b4f959420411be732d953cc0fed6767b24d68a9ecdc8e6bb52e911e55dfa34cf3a6fba68e88d11204" +
        "0ef8ba64ae89d5860d8487f94d104bcc22c84e0677e2ab913049a59d5ca2904f84803ae0304720a4e363c070244305f2" +
        "f8b114193910f46a8a3af3b9d2484d981060d9bc6",
    ),
    b: -hex(
      "12dc0ccfd01ce107016aea5dc3f5c6ec45cb53a32a2fda4494dd056e2f007ec92800b6af74182f799cd63fc7665f932a" +
        "f374438943c8e8cd342a0271409113ba50e60b892b5065d8d56a2f2f5cde65a6f551ffe721286029b5733c1ece8fc8c3" +
        "dbe4e8c012a47b84d964d093b7f84e0239a8ae8d3",
    ),
  },
};

/** ED25519 and RISTRETTO. */
export const CURVE25519_CONSTANTS: ClassGroupConstants = {
  q: hex("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed"),
  discriminant: -hex(
    "4af663eeabd09dfd506a9953372b3426ea39bb9c65956dbc9929a77c6af25009e6755ce76c28f83d49c2c71c4e7d80e0" +
      "0a14ab547641d40d74ccacb1a05d1ddfb92cb224650f75a004419f75ead553484fa66d027df895291c06adf97de86e39" +
      "c88721922c8df77f7bcc377170e6a48accb898a9d862eddeeb783bf285e90d82cfe028b25ab307e5153ff2790e312d85" +
      "5492788fceaa6b08a8e7e64cc3993a18e7b7cb951321ab57adf5c9a45f52472a50521f0dd864ff29e948020437f76e9a" +
      "a561589dafc0e8a733d4a29f4ad23c2778a5c93214249300431701c3581fd680710b950bb2c8ed3",
  ),
  h: {
    a: hex(
      "d7e135c9c6b8153a4a7fae6ef79c6b14dac15b124beed82ef1fc923cee77444800416d57c7ef209100436e501ed9841d" +
        "e9caac229f626913fb8fb75cd8231f72c90b5c544cb4370531ab67a54f8eb6704b4f4d0455b9f268faf5c3b313ec5ac7" +
        "58af4c4c44bc641140df872067e764c5a7e1daf",
    ),
    b: -hex(
      "8dc7987db07447b813b89abc362d914d949c1723bc1c4193ec4301aabeb416afa9bae20e02966b9f27a100b8c0b8a935" +
        "c9a22bb8f0df64b9da4e86fab919de6b4c76877c8732439fb954c1e7212192af5881472f63dfdb29d4e8d87a27eabfe7" +
        "1f791a50b46b8738cbd93d53e7442178e5413f9",
    ),
  },
};

function hex(digits: string): bigint {
  return BigInt(`0x${digits}`);
}
