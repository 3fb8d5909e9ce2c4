// Own kernels exist once per instruction set: every kernels/*.cpp is compiled several times, with ERG_ISA as its namespace, and
// fills a table of function pointers there. ERG_KERNELS(Table, name) in the table's header declares name(), which gives the
// table for this machine.
#pragma once

namespace erg {

enum class Isa { baseline, v3, v4, v4_bf16 };  // x86-64, its levels v3 (AVX2) and v4 (AVX-512), v4 with AVX512_BF16

Isa kernel_isa();  // the best that this machine and ONEDNN_MAX_CPU_ISA allow

}  // namespace erg

// clang-format off
#if defined(__x86_64__)
#define ERG_KERNELS(Table, name)                                                                               \
  namespace isa_baseline { extern const Table name; }                                                          \
  namespace isa_v3 { extern const Table name; }                                                                \
  namespace isa_v4 { extern const Table name; }                                                                \
  namespace isa_v4_bf16 { extern const Table name; }                                                           \
  inline const Table& name() {                                                                                 \
    constexpr const Table* tables[] = {&isa_baseline::name, &isa_v3::name, &isa_v4::name, &isa_v4_bf16::name}; \
    return *tables[int(kernel_isa())];                                                                         \
  }
#else
#define ERG_KERNELS(Table, name)                      \
  namespace isa_baseline { extern const Table name; } \
  inline const Table& name() { return isa_baseline::name; }
#endif
