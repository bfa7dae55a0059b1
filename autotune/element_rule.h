// How one element is judged, in code that the host and a GPU share: it is compiled here, and its text is part
// of the kernels in check_kernels.cpp. Hence the common part of C++ and CUDA C++, and no header but <cmath>.
#pragma once

#include <cmath>

/// Code, and the same code as text (on one line, its comments gone).
#define EINKERN_CODE_AND_TEXT(name, ...) \
  __VA_ARGS__                            \
  inline constexpr const char* name = #__VA_ARGS__

namespace einkern::autotune {

EINKERN_CODE_AND_TEXT(
    element_rule_text,

    /// The bits of an element. A type that is compared bit for bit has no exponent.
    struct ElementFormat {
      int bytes;
      int exponent_bits;
      int mantissa_bits;
      int has_infinity;  // 0: of the largest exponent only the largest mantissa is NaN, and the rest numbers
    };

    struct ElementRule {
      ElementFormat format;
      double relative;  // allowed, times the right value's magnitude
      double absolute;  // allowed beside that
      int sampled;      // 1: the reference has computed some elements and left the others poison
    };

    /// What was seen of many elements.
    struct ElementFindings {
      unsigned long long wrong;
      unsigned long long nans;       // of the wrong: NaN on one side
      unsigned long long untouched;  // still poison
      long long worst;               // number of the worst element in row-major order; -1: none is wrong
      double worst_ratio;            // its error in units of its bound
      double largest_error;          // finite errors, right or wrong
      double largest_magnitude;      // finite values
    };

    inline ElementFindings no_findings() { return ElementFindings{0, 0, 0, -1, 0, 0, 0}; }

    /// One random word for each state: splitmix64 (Steele, Lea and Flood 2014).
    inline unsigned long long random_word(unsigned long long state) {
      state += 0x9E3779B97F4A7C15u;
      state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
      state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
      return state ^ (state >> 31);
    }

    /// What memory holds where nobody has written: all bits set, NaN in every float type.
    inline unsigned long long poison_bits(int bytes) { return ~0ull >> (64 - 8 * bytes); }

    /// The number that the bits of a float stand for.
    inline double decoded(ElementFormat format, unsigned long long bits) {
      const unsigned long long mantissa = bits & ((1ull << format.mantissa_bits) - 1);
      const int last_exponent = (1 << format.exponent_bits) - 1;
      const int exponent = static_cast<int>(bits >> format.mantissa_bits) & last_exponent;
      const int unit = 2 - (1 << (format.exponent_bits - 1)) - format.mantissa_bits;  // of the subnormals
      const double infinity = ldexp(1.0, 2000);
      double magnitude = exponent == 0 ? ldexp(static_cast<double>(mantissa), unit)
                                       : ldexp(static_cast<double>(mantissa | 1ull << format.mantissa_bits),
                                               unit + exponent - 1);
      if (exponent == last_exponent && format.has_infinity != 0)
        magnitude = mantissa == 0 ? infinity : infinity - infinity;
      if (exponent == last_exponent && format.has_infinity == 0 &&
          mantissa == (1ull << format.mantissa_bits) - 1)
        magnitude = infinity - infinity;
      return (bits >> (8 * format.bytes - 1) & 1) != 0 ? -magnitude : magnitude;
    }

    inline void note_wrong(ElementFindings& findings, long long number, double ratio) {
      ++findings.wrong;
      if (findings.worst >= 0 &&
          (ratio < findings.worst_ratio || (ratio == findings.worst_ratio && number > findings.worst)))
        return;
      findings.worst = number;
      findings.worst_ratio = ratio;
    }

    /// A right value's part in the largest magnitude.
    inline void note_magnitude(ElementFindings& findings, ElementFormat format, unsigned long long bits) {
      const double magnitude = fabs(decoded(format, bits));
      if (magnitude > findings.largest_magnitude && magnitude < ldexp(1.0, 2000))
        findings.largest_magnitude = magnitude;
    }

    /// Integers and bools must be equal; floats within the bound, NaN where the reference has NaN, and an
    /// infinity where it has the same.
    inline void note_element(ElementFindings& findings, const ElementRule& rule, long long number,
                             unsigned long long right_bits, unsigned long long found_bits) {
      const double infinity = ldexp(1.0, 2000);
      const unsigned long long poison = poison_bits(rule.format.bytes);
      const bool is_float = rule.format.exponent_bits > 0;
      if (found_bits == poison) ++findings.untouched;
      if (rule.sampled != 0 && right_bits == poison) {
        if (is_float && found_bits == poison) note_wrong(findings, number, infinity);
        return;
      }
      if (right_bits == found_bits) return;
      if (!is_float) return note_wrong(findings, number, infinity);
      const double right = decoded(rule.format, right_bits);
      const double found = decoded(rule.format, found_bits);
      const bool right_is_nan = right != right;
      const bool found_is_nan = found != found;
      if (right_is_nan && found_is_nan) return;
      if (right_is_nan || found_is_nan) {
        ++findings.nans;
        return note_wrong(findings, number, infinity);
      }
      if (right == found) return;
      const double error = fabs(right - found);
      if (error < infinity && error > findings.largest_error) findings.largest_error = error;
      const bool finite = fabs(right) < infinity;
      const double allowed = rule.relative * fabs(right) + rule.absolute;
      if (finite && error <= allowed) return;
      note_wrong(findings, number, finite && allowed > 0 ? error / allowed : infinity);
    }

    inline void merge_findings(ElementFindings& into, const ElementFindings& other) {
      into.untouched += other.untouched;
      into.nans += other.nans;
      into.largest_error = fmax(into.largest_error, other.largest_error);
      into.largest_magnitude = fmax(into.largest_magnitude, other.largest_magnitude);
      if (other.wrong == 0) return;
      const unsigned long long wrong = into.wrong + other.wrong;
      note_wrong(into, other.worst, other.worst_ratio);
      into.wrong = wrong;
    });

}  // namespace einkern::autotune
