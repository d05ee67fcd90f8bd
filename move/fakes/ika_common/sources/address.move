/// The coordinator's package depends on this one; the Treasury calls no function of it.
module ika_common::address;
