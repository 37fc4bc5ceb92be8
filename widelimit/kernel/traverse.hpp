#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/kernel/panels.hpp"

#include <functional>
#include <memory>
#include <optional>

/// One way over a Gram matrix, whatever becomes of its entries: kept in memory (gram.cpp), multiplied and forgotten
/// (network_gram.cpp), or written to a file (file/file_sink.cpp).
namespace widelimit {

/// What is computed: a recipe on x1 with itself, or on every sample of x1 with every sample of x2.
struct GramTask {
  const Recipe* recipe = nullptr;
  SampleView x1;
  std::optional<SampleView> x2;  ///< absent: x1 with itself
  Precision precision = Precision::f64;

  [[nodiscard]] bool symmetric() const { return !x2; }
  [[nodiscard]] const SampleView& columns() const { return x2 ? *x2 : x1; }
  /// That are computed: half of a symmetric matrix.
  [[nodiscard]] Index pairs() const {
    return symmetric() ? x1.count() * (x1.count() + 1) / 2 : x1.count() * x2->count();
  }
};

/// Consecutive samples, loaded by the engine when they are first asked for. A handle: copies share what is loaded.
class Panel {
 public:
  Panel(const GramTask& task, const SampleView& samples, Range range, const Engine& engine);

  [[nodiscard]] Range range() const { return range_; }
  /// Samples of the data set as samples of the panel.
  [[nodiscard]] Range within(Range samples) const { return {samples.begin - range_.begin, samples.end - range_.begin}; }
  /// `after` is called on the calling thread from time to time while they are loaded; it stops that by throwing.
  const Loaded& loaded(const std::function<void(Index done)>& after = {}) const;
  /// Outputs × samples, of each with itself; `after` as for loaded.
  MatrixView<const double> diagonal(const std::function<void(Index done)>& after = {}) const;

 private:
  struct Samples;
  Range range_;
  std::shared_ptr<Samples> samples_;
};

/// Visits a Gram matrix by pairs of panels. The task's recipe, its samples and the engine must outlive it.
class Traversal {
 public:
  /// Error{usage} where the engine cannot run the recipe.
  Traversal(const GramTask& task, const PanelPlan& plan, const Engine& engine);

  using Visit = std::function<void(const Panel& rows, const Panel& cols)>;
  /// Pairs of panels that cover the matrix, of a symmetric one the part on and above the diagonal: rows stay while
  /// columns pass. Errors{numerical} of a visit say where its panels begin.
  void each_pair(const Visit& visit) const;
  /// The panels of x1.
  void each_panel(const std::function<void(const Panel& rows)>& visit) const;

 private:
  [[nodiscard]] Panel panel(const SampleView& samples, Index begin, Index size) const;

  GramTask task_;
  PanelPlan plan_;
  const Engine& engine_;
  std::optional<Panel> whole_;  ///< of a symmetric matrix where all samples fit: kept for the next time
};

/// Everything at once.
[[nodiscard]] PanelPlan one_panel(const GramTask& task);

}  // namespace widelimit
