// From opcodes to what lanes do.
#include "runtime/sim/tensix/sfpu.h"

namespace ttfd::sim::tensix {

Outcome Sfpu::Execute(uint32_t thread, uint32_t instruction) {
#define TO(name, call)            \
  case hw::tensix::name::kOpcode: \
    return call
  switch (hw::tensix::OpcodeOf(instruction)) {
    TO(SFPLOAD, access_.Load(thread, {instruction}));
    TO(SFPSTORE, access_.Store(thread, {instruction}));
    TO(SFPLOADI, access_.LoadImmediate({instruction}));
    TO(SFPMAD, arithmetic_.MultiplyAddLanes({instruction}));
    TO(SFPADD, arithmetic_.MultiplyAddLanes({instruction}));
    TO(SFPMUL, arithmetic_.MultiplyAddLanes({instruction}));
    TO(SFPMUL24, arithmetic_.MultiplyAddLanes({instruction}));
    TO(SFPMULI, arithmetic_.MultiplyAddImmediate({instruction}));
    TO(SFPADDI, arithmetic_.MultiplyAddImmediate({instruction}));
    TO(SFPIADD, arithmetic_.AddInteger({instruction}));
    TO(SFPSHFT, arithmetic_.Shift({instruction}));
    TO(SFPSHFT2, arithmetic_.ShiftBy({instruction}));
    TO(SFP_STOCH_RND, arithmetic_.Round({instruction}));
    TO(SFPCAST, arithmetic_.Cast({instruction}));
    TO(SFPARECIP, arithmetic_.Reciprocal({instruction}));
    TO(SFPLUT, arithmetic_.LookUp({instruction}));
    TO(SFPLUTFP32, arithmetic_.LookUpFloat({instruction}));
    TO(SFPDIVP2, bits_.ScaleExponent({instruction}));
    TO(SFPEXEXP, bits_.ExtractExponent({instruction}));
    TO(SFPEXMAN, bits_.ExtractMantissa({instruction}));
    TO(SFPSETEXP, bits_.SetExponent({instruction}));
    TO(SFPSETMAN, bits_.SetMantissa({instruction}));
    TO(SFPSETSGN, bits_.SetSign({instruction}));
    TO(SFPABS, bits_.Absolute({instruction}));
    TO(SFPMOV, bits_.Move({instruction}));
    TO(SFPAND, bits_.Logic({instruction}));
    TO(SFPOR, bits_.Logic({instruction}));
    TO(SFPNOT, bits_.Complement({instruction}));
    TO(SFPXOR, bits_.ExclusiveOr({instruction}));
    TO(SFPLZ, bits_.CountLeadingZeros({instruction}));
    TO(SFPLE, bits_.Compare({instruction}));
    TO(SFPGT, bits_.Compare({instruction}));
    TO(SFPSWAP, bits_.Swap({instruction}));
    TO(SFPSETCC, bits_.SetCondition({instruction}));
    TO(SFPENCC, bits_.EnableConditions({instruction}));
    TO(SFPPUSHC, bits_.ChangeConditions({instruction}));
    TO(SFPPOPC, bits_.ChangeConditions({instruction}));
    TO(SFPCOMPC, bits_.ChangeConditions({instruction}));
    TO(SFPNOP, Outcome::kDone);
    default:
      return report_.Refuse("opcode", "the model does not execute this instruction");
  }
#undef TO
}

}  // namespace ttfd::sim::tensix
