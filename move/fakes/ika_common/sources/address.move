/// The coordinator's package depends on this one; the Treasury calls nothing of it.
module ika_common::address;
