#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/kernel/panels.hpp"

#include <functional>
#include <memory>
#include <optional>

/// Iteration over a Gram matrix by panels of samples, shared by the computations that keep the entries in memory
/// (gram.cpp), multiply them and discard them (network_gram.cpp), or write them to a file (file/file_sink.cpp).
namespace widelimit {

/// A recipe applied to x1 with itself, or to every sample of x1 with every sample of x2.
struct GramTask {
  const Recipe* recipe = nullptr;
  SampleView x1;
  std::optional<SampleView> x2;  ///< absent: x1 with itself
  Precision precision = Precision::f64;

  [[nodiscard]] bool symmetric() const { return !x2; }
  [[nodiscard]] const SampleView& columns() const { return x2 ? *x2 : x1; }
  /// Number of computed pairs: one triangle of a symmetric matrix.
  [[nodiscard]] Index pairs() const {
    return symmetric() ? x1.count() * (x1.count() + 1) / 2 : x1.count() * x2->count();
  }
};

/// A range of consecutive samples, loaded by the engine on first access. A handle: copies share the loaded data.
class Panel {
 public:
  Panel(const GramTask& task, const SampleView& samples, Range range, const Engine& engine);

  [[nodiscard]] Range range() const { return range_; }
  /// Converts indices of the data set to indices of the panel.
  [[nodiscard]] Range within(Range samples) const { return {samples.begin - range_.begin, samples.end - range_.begin}; }
  /// Loads the samples on the first call. `after` is called repeatedly on the calling thread during loading and can
  /// cancel it by throwing.
  const Loaded& loaded(const std::function<void(Index done)>& after = {}) const;
  /// Outputs × samples: kernel of each sample with itself; `after` as for loaded().
  MatrixView<const double> diagonal(const std::function<void(Index done)>& after = {}) const;

 private:
  struct Samples;
  Range range_;
  std::shared_ptr<Samples> samples_;
};

/// Throws Error{usage} with the reason if the engine cannot compute the recipe.
void require_recipe(const Recipe& recipe, Precision precision, const Engine& engine);

/// Iterates over a Gram matrix by pairs of panels. The recipe of the task, its samples and the engine must outlive it.
class Traversal {
 public:
  /// Throws Error{usage} if the engine cannot run the recipe.
  Traversal(const GramTask& task, const PanelPlan& plan, const Engine& engine);

  using Visit = std::function<void(const Panel& rows, const Panel& cols)>;
  /// Visits pairs of panels that cover the matrix, or its upper triangle if it is symmetric; a row panel stays loaded
  /// while column panels change. Adds the offsets of the panels to an Error{numerical} thrown by a visit.
  void each_pair(const Visit& visit) const;
  /// Visits the panels of x1.
  void each_panel(const std::function<void(const Panel& rows)>& visit) const;

 private:
  [[nodiscard]] Panel panel(const SampleView& samples, Index begin, Index size) const;

  GramTask task_;
  PanelPlan plan_;
  const Engine& engine_;
  std::optional<Panel> whole_;  ///< single panel of a symmetric matrix if all samples fit; cached between traversals
};

/// Plan with all samples in one panel.
[[nodiscard]] PanelPlan one_panel(const GramTask& task);

}  // namespace widelimit
